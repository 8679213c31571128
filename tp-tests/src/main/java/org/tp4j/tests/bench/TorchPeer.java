package org.tp4j.tests.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * {@code scripts/torch_mlp.py --serve} as a process beside this one, so that both sides are timed in turns on one device. It is
 * asked in lines of JSON and answers each with one. Once it fails to answer in time it is ended, and every later question fails
 * with the first reason.
 */
final class TorchPeer implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String END = "";

    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final @Nullable Process process;
    private final @Nullable Writer questions;
    private @Nullable String ended;

    private TorchPeer(@Nullable Process process, @Nullable String ended) {
        this.process = process;
        this.ended = ended;
        this.questions = process == null ? null : process.outputWriter(StandardCharsets.UTF_8);
        if (process != null) {
            Thread reader = new Thread(() -> read(process), "torch");
            reader.setDaemon(true);
            reader.start();
        }
    }

    /** Starts it; one that cannot be started answers every question with the reason. Its messages go to standard error. */
    static TorchPeer start(List<String> command) {
        if (command.isEmpty()) {
            return new TorchPeer(null, "not asked for");
        }
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            return new TorchPeer(process, null);
        } catch (IOException e) {
            return new TorchPeer(null, String.valueOf(e.getMessage()));
        }
    }

    private void read(Process from) {
        try (BufferedReader reader = from.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                answers.add(line);
            }
        } catch (IOException e) {
            answers.add(END);
            return;
        }
        answers.add(END);
    }

    /**
     * Asks.
     *
     * @throws PeerException if it answers with an error, not in time, or not at all
     */
    JsonNode ask(Map<String, ?> question, long timeoutMs) {
        if (process == null || questions == null || ended != null) {
            throw new PeerException(String.valueOf(ended));
        }
        try {
            questions.write(JSON.writeValueAsString(question) + "\n");
            questions.flush();
            String answer = answers.poll(timeoutMs, TimeUnit.MILLISECONDS);
            if (answer == null) {
                throw end("no answer within " + timeoutMs / 1000 + " s to " + question);
            }
            if (answer.equals(END)) {
                throw end("the process ended at " + question);
            }
            JsonNode reply = JSON.readTree(answer);
            if (reply.has("error")) {
                throw new PeerException(reply.get("error").asText());
            }
            return reply;
        } catch (JsonProcessingException e) {
            throw end("an answer that is not JSON to " + question);
        } catch (IOException e) {
            throw end("the process has ended");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw end("interrupted");
        }
    }

    private PeerException end(String reason) {
        ended = reason;
        close();
        return new PeerException(reason);
    }

    @Override
    public void close() {
        if (process != null) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    /** A step or product of the other side, timed as {@link DeviceContender} times ours. */
    Contender contender(String name, Map<String, ?> what, Pace pace, long timeoutMs) {
        return new Contender() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public void warmUp() {
                Map<String, Object> question = new LinkedHashMap<>(what);
                question.put("do", "prepare");
                question.put("id", name);
                question.put("warm_up_ms", pace.warmUpMs());
                question.put("burst_ms", pace.burstMs());
                ask(question, timeoutMs);
            }

            @Override
            public double time() {
                return ask(Map.of("do", "time", "id", name), timeoutMs)
                        .get("ms")
                        .asDouble();
            }

            @Override
            public void close() {
                if (ended == null) {
                    try {
                        ask(Map.of("do", "drop", "id", name), timeoutMs);
                    } catch (PeerException e) {
                        // it has said why already, or says so when it is asked next
                    }
                }
            }
        };
    }
}
