package org.tp4j.nn;

import org.tp4j.tensor.Tensor;

/** Modules one after the other, named "0", "1", ... */
public final class Sequential extends Module {
    private final Module[] modules;

    /** @param modules in the order they run */
    public Sequential(Module... modules) {
        this.modules = modules.clone();
        for (int i = 0; i < modules.length; i++) {
            child(Integer.toString(i), modules[i]);
        }
    }

    @Override
    protected Tensor forward(Tensor x) {
        Tensor value = x;
        for (Module module : modules) {
            value = module.apply(value);
        }
        return value;
    }
}
