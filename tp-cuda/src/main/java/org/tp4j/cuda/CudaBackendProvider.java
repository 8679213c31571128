package org.tp4j.cuda;

import java.util.HexFormat;
import java.util.Optional;
import jcuda.driver.CUdevice;
import jcuda.driver.CUuuid;
import jcuda.driver.JCudaDriver;
import org.tp4j.cuda.internal.driver.Cuda;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.BackendProvider;

/** Serves the device type {@code cuda}. */
public final class CudaBackendProvider implements BackendProvider {
    /** Called by {@link java.util.ServiceLoader}. */
    public CudaBackendProvider() {}

    @Override
    public String deviceType() {
        return "cuda";
    }

    @Override
    public Optional<String> unavailable() {
        return CudaLibraries.unavailable();
    }

    @Override
    public int deviceCount() {
        return CudaLibraries.load().deviceCount();
    }

    @Override
    public String identity(int index) {
        CudaLibraries.load();
        CUdevice device = new CUdevice();
        CUuuid uuid = new CUuuid();
        Cuda.check(JCudaDriver.cuInit(0), "cuInit");
        Cuda.check(JCudaDriver.cuDeviceGet(device, index), "cuDeviceGet");
        Cuda.check(JCudaDriver.cuDeviceGetUuid(uuid, device), "cuDeviceGetUuid");
        return "GPU-" + HexFormat.of().formatHex(uuid.bytes);
    }

    @Override
    public Backend open(int index) {
        return CudaBackend.of(index);
    }
}
