package org.tp4j.nn;

import org.tp4j.tensor.Tensor;

/** Layers one after the other, named "0", "1", ... */
public final class Sequential extends Layer {
    private final Layer[] layers;

    /** @param layers in the order they run */
    public Sequential(Layer... layers) {
        this.layers = layers.clone();
        for (int i = 0; i < layers.length; i++) {
            child(Integer.toString(i), layers[i]);
        }
    }

    @Override
    protected Tensor forward(Tensor x) {
        Tensor value = x;
        for (Layer layer : layers) {
            value = layer.apply(value);
        }
        return value;
    }
}
