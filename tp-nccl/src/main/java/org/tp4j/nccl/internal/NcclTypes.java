package org.tp4j.nccl.internal;

import org.tp4j.comm.ReduceOp;
import org.tp4j.nccl.NcclDataType;
import org.tp4j.nccl.NcclRedOp;
import org.tp4j.tensor.DType;

/** NCCL's constants for element types and reductions. */
final class NcclTypes {
    private NcclTypes() {}

    static int of(DType dtype) {
        return switch (dtype) {
            case FLOAT32 -> NcclDataType.ncclFloat32;
            case FLOAT64 -> NcclDataType.ncclFloat64;
            case BFLOAT16 -> NcclDataType.ncclBfloat16;
            case FLOAT16 -> NcclDataType.ncclFloat16;
            case INT32 -> NcclDataType.ncclInt32;
            case INT64 -> NcclDataType.ncclInt64;
            case BOOL -> NcclDataType.ncclUint8;
        };
    }

    /** BOOL values are bytes of 0 or 1: sum and max are "any", product and min "all". */
    static int of(DType dtype, ReduceOp op) {
        boolean isBool = dtype == DType.BOOL;
        return switch (op) {
            case SUM -> isBool ? NcclRedOp.ncclMax : NcclRedOp.ncclSum;
            case AVG -> NcclRedOp.ncclAvg;
            case PRODUCT -> isBool ? NcclRedOp.ncclMin : NcclRedOp.ncclProd;
            case MAX -> NcclRedOp.ncclMax;
            case MIN -> NcclRedOp.ncclMin;
        };
    }
}
