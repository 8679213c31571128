/* What JCuda cannot do: open a library by name and say why not, and ask the driver before any of JCuda's classes is
   loaded, which end the process on a symbol that is missing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include "org_tp4j_cuda_internal_libraries_NativeLoader.h"

/* Opens a library; 0 and the reason in error[0] if that fails. */
JNIEXPORT jlong JNICALL Java_org_tp4j_cuda_internal_libraries_NativeLoader_open(JNIEnv *env, jclass type, jstring name, jobjectArray error)
{
    const char *text = (*env)->GetStringUTFChars(env, name, NULL);
    if (text == NULL) {
        return 0;
    }
    void *handle = dlopen(text, RTLD_NOW | RTLD_LOCAL);
    (*env)->ReleaseStringUTFChars(env, name, text);
    if (handle == NULL) {
        const char *reason = dlerror();
        jstring message = (*env)->NewStringUTF(env, reason == NULL ? "unknown reason" : reason);
        if (message != NULL) {
            (*env)->SetObjectArrayElement(env, error, 0, message);
        }
    }
    return (jlong) (intptr_t) handle;
}

/* Where an opened library lies. */
JNIEXPORT jstring JNICALL Java_org_tp4j_cuda_internal_libraries_NativeLoader_path(JNIEnv *env, jclass type, jlong handle)
{
    struct link_map *map = NULL;
    if (dlinfo((void *) (intptr_t) handle, RTLD_DI_LINKMAP, &map) != 0 || map == NULL) {
        return (*env)->NewStringUTF(env, "");
    }
    return (*env)->NewStringUTF(env, map->l_name);
}

/* Whether an opened library has a symbol, of a version node if one is given. */
JNIEXPORT jboolean JNICALL Java_org_tp4j_cuda_internal_libraries_NativeLoader_has(
    JNIEnv *env, jclass type, jlong handle, jstring symbol, jstring version)
{
    const char *name = (*env)->GetStringUTFChars(env, symbol, NULL);
    if (name == NULL) {
        return JNI_FALSE;
    }
    void *found = NULL;
    if (version == NULL) {
        found = dlsym((void *) (intptr_t) handle, name);
    } else {
        const char *node = (*env)->GetStringUTFChars(env, version, NULL);
        if (node != NULL) {
            found = dlvsym((void *) (intptr_t) handle, name, node);
            (*env)->ReleaseStringUTFChars(env, version, node);
        }
    }
    (*env)->ReleaseStringUTFChars(env, symbol, name);
    return found != NULL;
}

/* Calls a driver function `CUresult f(int *)`, after cuInit if asked; the negated error code if one of them fails. */
JNIEXPORT jint JNICALL Java_org_tp4j_cuda_internal_libraries_NativeLoader_ask(
    JNIEnv *env, jclass type, jlong driver, jstring function, jboolean initialize)
{
    int (*init)(unsigned) = (int (*)(unsigned)) (intptr_t) dlsym((void *) (intptr_t) driver, "cuInit");
    const char *name = (*env)->GetStringUTFChars(env, function, NULL);
    if (name == NULL) {
        return -1;
    }
    int (*ask)(int *) = (int (*)(int *)) (intptr_t) dlsym((void *) (intptr_t) driver, name);
    (*env)->ReleaseStringUTFChars(env, function, name);
    if (init == NULL || ask == NULL) {
        return -1;
    }
    int result = initialize ? init(0) : 0;
    int value = 0;
    if (result == 0) {
        result = ask(&value);
    }
    return result == 0 ? value : -result;
}

/* Closes a library that open has opened. */
JNIEXPORT void JNICALL Java_org_tp4j_cuda_internal_libraries_NativeLoader_close(JNIEnv *env, jclass type, jlong handle)
{
    dlclose((void *) (intptr_t) handle);
}

/* The highest compute capability among the driver's devices, times ten, after cuInit; 0 if it cannot be told. */
JNIEXPORT jint JNICALL Java_org_tp4j_cuda_internal_libraries_NativeLoader_computeCapability(JNIEnv *env, jclass type, jlong driver)
{
    enum { MAJOR = 75, MINOR = 76 };
    void *library = (void *) (intptr_t) driver;
    int (*count)(int *) = (int (*)(int *)) (intptr_t) dlsym(library, "cuDeviceGetCount");
    int (*attribute)(int *, int, int) = (int (*)(int *, int, int)) (intptr_t) dlsym(library, "cuDeviceGetAttribute");
    int devices = 0, highest = 0;
    if (count == NULL || attribute == NULL || count(&devices) != 0) {
        return 0;
    }
    for (int device = 0; device < devices; device++) {
        int major = 0, minor = 0;
        if (attribute(&major, MAJOR, device) == 0 && attribute(&minor, MINOR, device) == 0 && 10 * major + minor > highest) {
            highest = 10 * major + minor;
        }
    }
    return highest;
}

/* The CUDA version an NVRTC belongs to, as 1000 major + 10 minor; 0 if it cannot be told. */
JNIEXPORT jint JNICALL Java_org_tp4j_cuda_internal_libraries_NativeLoader_nvrtcVersion(JNIEnv *env, jclass type, jlong nvrtc)
{
    int (*version)(int *, int *) = (int (*)(int *, int *)) (intptr_t) dlsym((void *) (intptr_t) nvrtc, "nvrtcVersion");
    int major = 0, minor = 0;
    return version != NULL && version(&major, &minor) == 0 ? 1000 * major + 10 * minor : 0;
}

/* The same of a cuBLAS. */
JNIEXPORT jint JNICALL Java_org_tp4j_cuda_internal_libraries_NativeLoader_cublasVersion(JNIEnv *env, jclass type, jlong cublas)
{
    int (*property)(int, int *) = (int (*)(int, int *)) (intptr_t) dlsym((void *) (intptr_t) cublas, "cublasGetProperty");
    int major = 0, minor = 0;
    return property != NULL && property(0, &major) == 0 && property(1, &minor) == 0 ? 1000 * major + 10 * minor : 0;
}
