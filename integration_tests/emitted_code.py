"""Emitted code, compiled by what is installed and run at given sizes of its symbols."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_TIMEOUT = 300

_C_MAIN = """
#include <inttypes.h>
#include <stdio.h>
static void show(int64_t size) {
  if (size == MODEL_SIZE_OVERFLOW) printf("\\"overflow\\"");
  else if (!model_has_value(size)) printf("null");
  else printf("%" PRId64, size);
}
int main(void) {
  static int64_t given[MODEL_SYMBOLS + 1], sizes[MODEL_SIZES + 1];
  static unsigned char holds[MODEL_GUARDS + 1];
  char word[64];
  for (;;) {
    for (int i = 0; i < MODEL_SYMBOLS; i++) {
      if (scanf("%63s", word) != 1) return 0;
      given[i] = MODEL_SIZE_NOT_GIVEN;
      if (word[0] != 'n') sscanf(word, "%" SCNd64, &given[i]);
    }
    if (scanf("%63s", word) != 1) return 0;
    if (model_sizes(given, sizes, holds)) { printf("null\\n"); continue; }
    printf("[[");
    for (int i = 0; i < MODEL_SIZES; i++) { if (i) printf(", "); show(sizes[i]); }
    printf("], [");
    for (int i = 0; i < MODEL_GUARDS; i++) printf("%s%d", i ? ", " : "", holds[i]);
    printf("]]\\n");
  }
}
"""

_JS_MAIN = """
import { readFileSync } from "node:fs";
for (const line of readFileSync(0, "utf8").trimEnd().split("\\n")) {
  const given = line.split(" ").slice(0, symbols.length).map((word) => (word === "n" ? null : BigInt(word)));
  let text = "null";
  try {
    const found = sizes(given);
    text = `[[${found.sizes.map(String).join(", ")}], [${found.holds.map(Number).join(", ")}]]`;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  console.log(text);
}
"""

_C_ARENA = """
#include <inttypes.h>
#include <stdio.h>
static int64_t given[MODEL_SYMBOLS + 1], bytes[MODEL_PLACES + 1], offsets[MODEL_PLACES + 1];
static void show(const int64_t *numbers) {
  printf("[");
  for (int i = 0; i < MODEL_PLACED; i++) printf("%s%" PRId64, i ? ", " : "", numbers[i]);
  printf("], ");
}
int main(void) {
  char word[64];
  for (;;) {
    int64_t size, peak;
    for (int i = 0; i < MODEL_SYMBOLS; i++) {
      if (scanf("%63s", word) != 1) return 0;
      given[i] = MODEL_SIZE_NOT_GIVEN;
      if (word[0] != 'n') sscanf(word, "%" SCNd64, &given[i]);
    }
    if (scanf("%63s", word) != 1) return 0;
    const int refused = model_arena(given, bytes, offsets, &size, &peak);
    if (refused < 0) printf("[\\"size\\"]\\n");
    else if (refused > MODEL_SYMBOLS) printf("[\\"guard\\", %d]\\n", refused - MODEL_SYMBOLS - 1);
    else if (refused) printf("[\\"symbol\\", %d]\\n", refused - 1);
    else {
      if (model_arena_check(bytes, offsets, size)) return 3;
#ifdef MODEL_ARENA_AT_MOST
      static unsigned char arena[MODEL_ARENA_AT_MOST];
      if (size > (int64_t)sizeof arena) return 4;
#endif
      if (size > 0 && !model_arena_check(bytes, offsets, size - MODEL_ALIGN)) return 6;
      printf("["); show(bytes); show(offsets);
      printf("%" PRId64 ", %" PRId64 "]\\n", size, peak);
      for (int i = 0; i < MODEL_PLACED; i++) {
        if (model_places[i].root != i || offsets[i] == 0 || bytes[i] == 0) continue;
        offsets[i] -= MODEL_ALIGN;
        if (!model_arena_check(bytes, offsets, size)) return 5;
        offsets[i] += MODEL_ALIGN;
      }
    }
  }
}
"""

_JS_ARENA = """
import { readFileSync } from "node:fs";
for (const line of readFileSync(0, "utf8").trimEnd().split("\\n")) {
  const given = line.split(" ").slice(0, symbols.length).map((word) => (word === "n" ? null : BigInt(word)));
  let text;
  try {
    const found = arena(given);
    if (arenaCheck(found) !== null) throw new Error(`value ${arenaCheck(found)} overlaps`);
    const show = (numbers) => `[${numbers.slice(0, placed).map(String).join(", ")}]`;
    text = `[${show(found.bytes)}, ${show(found.offsets)}, ${found.size}, ${found.peak}]`;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    text = error.guard === undefined ? '["refused"]' : `["guard", ${error.guard}]`;
  }
  console.log(text);
}
"""


def found_languages() -> list[str]:
    """The languages that can run here."""
    tools = {"c": "cc", "js": "node"}
    return [language for language, tool in tools.items() if shutil.which(tool)]


def run(language: str, text: str, bindings: Sequence[Sequence[int | None]], folder: Path) -> list[Any]:
    """For each list of sizes of the symbols: the sizes and guards, as `[sizes, holds]`; None if one is out of bounds.

    A size without a value is None, or "overflow".
    """
    return _run(language, text + {"c": _C_MAIN, "js": _JS_MAIN}[language], bindings, folder)


def run_arena(language: str, text: str, bindings: Sequence[Sequence[int | None]], folder: Path) -> list[Any]:
    """For each list of sizes of the symbols: `[bytes, offsets, size, peak]`, of what lies in the arena, or the refusal.

    A refusal is `["symbol", i]`, `["guard", i]` or `["size"]`, in JavaScript `["refused"]` or `["guard", i]`. Each
    arena is checked by the emitted check; in C also the check, by offsets and a block that are too small.
    """
    return _run(language, text + {"c": _C_ARENA, "js": _JS_ARENA}[language], bindings, folder)


def _run(language: str, text: str, bindings: Sequence[Sequence[int | None]], folder: Path) -> list[Any]:
    """The lines that a program prints for these sizes, read as JSON."""
    program = folder / "program"
    if language == "c":
        (folder / "sizes.c").write_text(text)
        warnings = "-Wall -Wextra -Werror -Wno-unused-function -Wno-unused-const-variable"
        checks = "-std=c99 -DMODEL_ARENA_CHECK -fsanitize=address,undefined -fno-sanitize-recover"
        command = ["cc", *warnings.split(), *checks.split(), "-o", str(program), str(folder / "sizes.c")]
        _done(command)
        start = [str(program)]
    else:
        (folder / "sizes.mjs").write_text(text)
        start = ["node", str(folder / "sizes.mjs")]
    lines = "".join(" ".join("n" if size is None else str(size) for size in given) + " .\n" for given in bindings)
    return list(map(json.loads, _done(start, lines).splitlines()))


def _done(command: list[str], given: str = "") -> str:
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return done.stdout
