"""The functions of Ingot that tests/bisect/planted has wrappers for."""

_MODULE_PASSES = [
    "InferTypesPass",
    "FoldConstants",
    "FoldBatchNorm",
    "Simplify",
    "EliminateDead",
    "EliminateCommon",
    "Partition",
    "ByteProducts",
    "JoinAttention",
    "SubPixel",
    "BlockLayout",
    "PackWeights",
    "ByteTables",
    "FuseOps",
    "FlattenRows",
    "NameSizes",
    "PlaceParts",
]

_LOOP_PASSES = [
    "UnrollLoops",
    "VectorizeLoops",
    "PlanWorkspaces",
    "ShareSizes",
]

# Debian 12's Abseil is in the name.
_LOWER = ("_ZN5ingot2te5LowerEN4absl7debian311string_viewERKNS0_5GraphENS2_" +
          "4SpanIKNS0_6TensorEEESA_RKNS0_8ScheduleE")

_WEIGHTS = ("_ZN5ingot17SafetensorsToBlobERKSt3mapINSt7__cxx1112basic_stringIcSt11" +
            "char_traitsIcESaIcEEENS_6TensorESt4lessIS6_ESaISt4pairIKS6_S7_EEE")

def wrap_options():
    """Options of the linker: all calls of these functions go to the wrappers."""
    symbols = ["_ZN5ingot5relay%d%sEPNS0_6ModuleEPNS0_11PassContextE" % (len(p), p) for p in _MODULE_PASSES]
    symbols += ["_ZN5ingot3tir%d%sERKNS0_8PrimFuncE" % (len(p), p) for p in _LOOP_PASSES]
    return ["-Wl,--wrap=" + symbol for symbol in symbols + [_LOWER, _WEIGHTS]]
