"""Generation of sequences with a decoder: greedy and beam search, sampling; the end of a speculative step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import Unknown, require
from onnx_infer.laws.statements import fresh
from onnx_infer.ops.contrib import contrib
from onnx_infer.values import dtype as dt

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Dim, Shape, SymTensor


_GREEDY = "input_ids max_length min_length? repetition_penalty? vocab_mask? prefix_vocab_mask? attention_mask?"
_BEAMS = (
    "input_ids max_length min_length? num_beams num_return_sequences length_penalty? repetition_penalty? vocab_mask? "
    "prefix_vocab_mask? attention_mask? decoder_input_ids? logits_processor?"
)


def _value(size: Dim | Unknown) -> Dim:
    return fresh(size.note) if isinstance(size, Unknown) else size


def _words(vocab_size: int) -> Dim:
    return vocab_size if vocab_size > 0 else fresh("the decoder's number of words")


@contrib("GreedySearch", inputs=_GREEDY, dtype=lambda: dt.INT32)
def greedy_search(input_ids: SymTensor, max_length: Dim | Unknown) -> list[Shape]:
    """Prompts (B, S) -> sequences (B, max_length)."""
    require(input_ids.rank >= 1, "the prompts have no batch axis; their shape", input_ids)
    return [(input_ids.dims[0], _value(max_length))]


@contrib("Sampling", inputs=f"{_GREEDY} presence_mask? seed?", dtype=lambda: dt.INT32, random=True)
def sampling(input_ids: SymTensor, max_length: Dim | Unknown, vocab_size: int = -1) -> list[Shape]:
    """Prompts (B, S) -> sequences (B, max_length), and logits (B, words)."""
    sequences = greedy_search(input_ids, max_length)
    return [*sequences, (input_ids.dims[0], _words(vocab_size))]


@contrib(
    "SpeculativePrefixCommit",
    inputs="next_tokens input_ids status ctl ctx_commit prefixes ptrs",
    dtype=lambda ctl, ctx_commit: [dt.INT32, ctl.dtype, ctx_commit.dtype],
)
def commit_prefix(next_tokens: SymTensor, ctl: AnyRank, ctx_commit: AnyRank) -> list[Shape | None]:
    """Tokens (B, rows), or (rows) of one sequence -> the lengths before (B), and the state, changed in place."""
    require(next_tokens.rank in (1, 2), "rank of next_tokens is neither 1 nor 2", next_tokens.rank)
    return [(next_tokens.dims[0] if next_tokens.rank == 2 else 1,), ctl.shape, ctx_commit.shape]


@contrib("BeamSearch", inputs=_BEAMS, dtype=lambda: dt.INT32)
@contrib(
    "WhisperBeamSearch",
    inputs=f"{_BEAMS} cross_qk_layer_head? extra_decoding_ids? temperature?",
    dtype=lambda: [dt.INT32, None, None, dt.FLOAT],
)
def beam_search(
    input_ids: SymTensor,
    max_length: Dim | Unknown,
    num_beams: Dim | Unknown,
    num_return_sequences: Dim | Unknown,
    vocab_size: int = -1,
) -> list[Shape]:
    """Prompts (B, S) or features (B, ...) -> sequences (B, R, max_length), their scores (B, R), and those of each step.

    The scores of the steps are (steps, B, beams, words). Whisper's weights of the cross-attention are (B, R, heads,
    length, frames), its probabilities of no speech (B).
    """
    (batch, longest) = greedy_search(input_ids, max_length)[0]
    kept = _value(num_return_sequences)
    steps = (fresh("the number of steps", at_most=longest), batch, _value(num_beams), _words(vocab_size))
    weights = (fresh(f"the decoder's number of {what}") for what in ("heads", "tokens", "frames"))
    return [(batch, kept, longest), (batch, kept), steps, (batch, kept, *weights), (batch,)]
