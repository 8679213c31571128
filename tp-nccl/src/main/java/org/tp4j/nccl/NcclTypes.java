package org.tp4j.nccl;

import org.tp4j.comm.ReduceOp;
import org.tp4j.tensor.DType;

/** Our types and reductions as NCCL's. */
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

    /** Of truth values, which are bytes of 0 or 1, sum and max are "any", product and min "all". */
    static int of(DType dtype, ReduceOp op) {
        boolean truth = dtype == DType.BOOL;
        return switch (op) {
            case SUM -> truth ? NcclRedOp.ncclMax : NcclRedOp.ncclSum;
            case AVG -> NcclRedOp.ncclAvg;
            case PRODUCT -> truth ? NcclRedOp.ncclMin : NcclRedOp.ncclProd;
            case MAX -> NcclRedOp.ncclMax;
            case MIN -> NcclRedOp.ncclMin;
        };
    }
}
