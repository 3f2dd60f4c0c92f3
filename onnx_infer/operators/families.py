"""The operators of each family, made by `python -m tests.onnx_infer.operator_table`; a test keeps it current."""

from __future__ import annotations

_LINES = """
ai.onnx attention Attention RotaryEmbedding
ai.onnx contrib.indexing Crop DynamicSlice
ai.onnx contrib.normalization Affine ImageScaler MemcpyFromHost MemcpyToHost ParametricSoftplus Scale
ai.onnx contrib.normalization ScaledTanh SimplifiedLayerNormalization
ai.onnx control_flow If SequenceMap
ai.onnx creation Bernoulli BlackmanWindow Constant ConstantOfShape DFT EyeLike HammingWindow
ai.onnx creation HannWindow ImageDecoder MelWeightMatrix Multinomial RandomNormal
ai.onnx creation RandomNormalLike RandomUniform RandomUniformLike Range STFT
ai.onnx elementwise Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater
ai.onnx elementwise GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or PRelu Pow Sub Sum SwiGLU
ai.onnx elementwise Where Xor
ai.onnx indexing Gather GatherElements GatherND Scatter ScatterElements ScatterND TensorScatter
ai.onnx joining CenterCropPad Concat Pad Split
ai.onnx linear Det Einsum Gemm MatMul MatMulInteger QLinearMatMul
ai.onnx loop Loop
ai.onnx ml RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer
ai.onnx movement DepthToSpace Expand ReverseSequence SpaceToDepth Tile Transpose Trilu
ai.onnx normalization BatchNormalization GroupNormalization Hardmax InstanceNormalization LRN
ai.onnx normalization LayerNormalization LogSoftmax LpNormalization MeanVarianceNormalization
ai.onnx normalization RMSNormalization Softmax
ai.onnx quantization DequantizeLinear DynamicQuantizeLinear QuantizeLinear
ai.onnx recurrent CausalConvWithState GRU LSTM LinearAttention RNN
ai.onnx reduction ArgMax ArgMin CumProd CumSum ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp
ai.onnx reduction ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare
ai.onnx reshaping Flatten Reshape Shape Size
ai.onnx resize AffineGrid GridSample Resize RoiAlign Upsample
ai.onnx scan Scan
ai.onnx selection Compress NonMaxSuppression NonZero OneHot TopK Unique
ai.onnx sequence ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt
ai.onnx sequence SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength
ai.onnx sequence SplitToSequence
ai.onnx slicing Slice Squeeze Unsqueeze
ai.onnx training NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss
ai.onnx unary Abs Acos Acosh Asin Asinh Atan Atanh BitCast BitwiseNot Cast CastLike Ceil Celu
ai.onnx unary Clip Cos Cosh Dropout Elu Erf Exp Floor Gelu HardSigmoid HardSwish Identity
ai.onnx unary IsInf IsNaN LeakyRelu Log Mish Neg Not Reciprocal Relu Round Selu Shrink Sigmoid
ai.onnx unary Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu
ai.onnx window AveragePool Col2Im Conv ConvInteger ConvTranspose DeformConv GlobalAveragePool
ai.onnx window GlobalLpPool GlobalMaxPool LpPool MaxPool MaxRoiPool MaxUnpool QLinearConv
ai.onnx.ml ml ArrayFeatureExtractor Binarizer CastMap CategoryMapper DictVectorizer
ai.onnx.ml ml FeatureVectorizer Imputer LabelEncoder Normalizer OneHotEncoder Scaler ZipMap
ai.onnx.ml ml_models LinearClassifier LinearRegressor SVMClassifier SVMRegressor TreeEnsemble
ai.onnx.ml ml_models TreeEnsembleClassifier TreeEnsembleRegressor
ai.onnx.preview attention FlexAttention
ai.onnx.preview.training training Adagrad Adam Gradient Momentum
com.microsoft contrib.attention Attention DecoderMaskedSelfAttention LongformerAttention PackedAttention
com.microsoft contrib.attention QAttention QOrderedAttention QOrderedLongformerAttention
com.microsoft contrib.generation BeamSearch EngramGate GreedySearch HyperConnectionLowRankMix
com.microsoft contrib.generation HyperConnectionPostMix HyperConnectionPreMix NGramHashMapping
com.microsoft contrib.generation PackedSparseAttentionIndexer PackedSparseAttentionIndexerMerge Sampling
com.microsoft contrib.generation SparseAttentionIndexer SpeculativePrefixCommit VarlenNGramHashMapping
com.microsoft contrib.generation WhisperBeamSearch
com.microsoft contrib.grouped_attention DynamicSparseAttention GatedRelativePositionBias GemmaRotaryEmbedding
com.microsoft contrib.grouped_attention GroupQueryAttention MRotaryEmbedding PagedAttention RelativePositionBias
com.microsoft contrib.grouped_attention RemovePadding RestorePadding RotaryEmbedding SparseAttention
com.microsoft contrib.grouped_attention SparsePagedAttention
com.microsoft contrib.indexing AllGather AllReduce AllToAll BifurcationDetector DynamicTimeWarping EPContext
com.microsoft contrib.indexing ExpandDims GatherND Irfft NGramRepeatBlock NegativeLogLikelihoodLossInternal
com.microsoft contrib.indexing NegativeLogLikelihoodLossInternal2 Pad PythonOp Range Rfft Snpe
com.microsoft contrib.indexing SoftmaxCrossEntropyLossInternal Tokenizer TorchEmbedding Unique
com.microsoft contrib.indexing WordConvEmbedding
com.microsoft contrib.linear CDist DynamicQuantizeMatMul FusedGemm FusedMatMul FusedMatMulActivation
com.microsoft contrib.linear GemmFastGelu GemmFloat8 MatMulInteger16 MatMulIntegerToFloat MoE MoEGroupRouter
com.microsoft contrib.linear MoEPacked QGemm QMoE QOrderedMatMul RouterGateUpProj SparseToDenseMatMul
com.microsoft contrib.linear TransposeMatMul
com.microsoft contrib.multi_head_attention DecoderAttention DecoderMaskedMultiHeadAttention MultiHeadAttention
com.microsoft contrib.multi_head_attention PackedMultiHeadAttention
com.microsoft contrib.normalization BiasAdd BiasDropout BiasGelu BiasSoftmax BiasSplitGelu BitmaskBiasDropout
com.microsoft contrib.normalization BitmaskDropout BranchwiseRMSNorm ComplexMul ComplexMulConj
com.microsoft contrib.normalization EmbedLayerNormalization FastGelu GatedAdd GatedRMSNorm Gelu GroupNorm Inverse
com.microsoft contrib.normalization IsAllFinite MulInteger MurmurHash3 QEmbedLayerNormalization QOrderedGelu
com.microsoft contrib.normalization QOrderedLayerNormalization QuickGelu RMSNormRotary SampleOp ScaledSiLU
com.microsoft contrib.normalization SkipGroupNorm SkipLayerNormalization SkipSimplifiedLayerNormalization SwiGLU
com.microsoft contrib.normalization Trilu
com.microsoft contrib.quantization DequantizeBFP DequantizeLinear DequantizeWithOrder GatherBlockQuantized
com.microsoft contrib.quantization GatherPacked MatMulBlockQuantizedFp4Weight MatMulBlockQuantizedFp8Weight
com.microsoft contrib.quantization MatMulBnb4 MatMulFpQ4 MatMulNBits MatMulNBitsMlp MatMulNBitsQLoRA MatMulNBitsQkv
com.microsoft contrib.quantization MatMulPacked QLinearAdd QLinearConcat QLinearLeakyRelu QLinearMul
com.microsoft contrib.quantization QLinearReduceMean QLinearSigmoid QLinearSoftmax QLinearWhere QuantizeBFP
com.microsoft contrib.quantization QuantizeLinear QuantizeWithOrder ReduceSumInteger
com.microsoft contrib.recurrence AttnLSTM CausalConvWithState ConvStateReplay DynamicQuantizeLSTM GatedDeltaNet
com.microsoft contrib.recurrence GatedDeltaNetStateReplay LinearAttention LinearAttentionGate Mamba2Verify
com.microsoft contrib.recurrence VarlenCausalConvWithState
com.microsoft contrib.window ConvTransposeWithDynamicPads CropAndResize FusedConv GridSample MaxpoolWithMask
com.microsoft contrib.window NhwcConv NhwcFusedConv NhwcMaxPool QLinearAveragePool QLinearConv
com.microsoft contrib.window QLinearGlobalAveragePool UnfoldTensor
com.microsoft.nchwc contrib.window AveragePool Conv GlobalAveragePool GlobalMaxPool MaxPool ReorderInput
com.microsoft.nchwc contrib.window ReorderOutput Upsample
com.ms.internal.nhwc contrib.window AveragePool BatchNormalization Conv ConvTranspose DepthToSpace GlobalAveragePool
com.ms.internal.nhwc contrib.window GlobalLpPool GlobalMaxPool GridSample InstanceNormalization LRN LpPool MaxPool
com.ms.internal.nhwc contrib.window MaxUnpool QLinearAveragePool QLinearConv QLinearConvTranspose Resize
com.ms.internal.nhwc contrib.window SpaceToDepth
org.pytorch.aten contrib.aten ATen
""".strip().splitlines()
"""A domain, a family, and operators of this domain for which the family has rules."""


def families_of(operator: tuple[str, str] | None) -> list[str]:
    """The families with rules for an operator, given by domain and name. All of them for None, or one without rules.

    >>> families_of(("", "Concat")), families_of(("ai.onnx.ml", "Scaler"))
    (['joining'], ['ml'])
    """
    domain, name = operator or ("", "")
    start, word = f"{domain or 'ai.onnx'} ", f" {name} "
    found = [line for line in _LINES if line.startswith(start) and word in f"{line} "]
    return list(dict.fromkeys([line.split()[1] for line in found or _LINES]))
