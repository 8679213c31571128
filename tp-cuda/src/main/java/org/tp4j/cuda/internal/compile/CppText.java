package org.tp4j.cuda.internal.compile;

import java.util.Map;

/** C++ text made from Java, so that the numbers both sides share cannot differ. */
public final class CppText {
    private final StringBuilder text = new StringBuilder();

    /** Starts a header. */
    static CppText header(String comment) {
        return new CppText().line("// Generated from Java: " + comment).line("#pragma once");
    }

    /** A constant's code in kernels. */
    @SuppressWarnings("EnumOrdinal") // kernels are compiled with the numbers of this very process
    public static int code(Enum<?> constant) {
        return constant.ordinal();
    }

    CppText line(String line) {
        text.append(line).append('\n');
        return this;
    }

    /** {@code constexpr int name = value;}. */
    CppText constant(String name, int value) {
        return line("constexpr int " + name + " = " + value + ";");
    }

    /** An enum of the constants' names and codes. */
    CppText enumeration(String name, Enum<?>... constants) {
        line("enum " + name + " {");
        for (Enum<?> constant : constants) {
            line("    " + constant.name() + " = " + code(constant) + ",");
        }
        return line("};");
    }

    /** A function that dispatches on a code and visits the matching choice; the last choice is the default. */
    CppText visitor(String name, String parameters, String before, Map<? extends Enum<?>, String> choices) {
        line("template <class Visitor> __device__ __forceinline__ void " + name + "(int code, " + parameters + ") {");
        if (!choices.isEmpty()) {
            text.append(before);
            choose("visit", choices);
        }
        return line("}");
    }

    /** The body of a function of {@code code}: returns {@code call(choice)}. */
    CppText choose(String call, Map<? extends Enum<?>, String> choices) {
        int left = choices.size();
        line("    switch (code) {");
        for (Map.Entry<? extends Enum<?>, String> choice : choices.entrySet()) {
            left--;
            line("    " + (left == 0 ? "default" : "case " + code(choice.getKey())) + ": // "
                    + choice.getKey().name());
            line("        return " + call + "(" + choice.getValue() + ");");
        }
        return line("    }");
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
