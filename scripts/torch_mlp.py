#!/usr/bin/env python3
"""PyTorch's side of TP4J's measurements on a GPU (scripts/gpu-check.sh, scripts/bench.sh gpu).

The step: y = down(gelu(up(x))) with biases and the tanh form of GELU, loss = mean(y^2), gradients of all parameters and of
x, then SGD without momentum, lr 1e-3. Parameters, activations and gradients are of one type; gradients are set to None at
the beginning of a step. x is drawn from a normal distribution. Modes: eager; compile (torch.compile of model and loss);
reduce-overhead (the same with CUDA graphs). The optimizer is PyTorch's default for the device in all of them.
Types: bf16; fp32 (TF32 off); tf32 (fp32 tensors, TF32 on).

    torch_mlp.py --sizes 8192x4096x16384 --dtypes bf16,fp32 --modes eager,compile   measures, a line of JSON each
    torch_mlp.py --sizes ... --ahead                                                only compiles, which fills PyTorch's cache
    torch_mlp.py --serve                                                            answers questions from standard input

--serve reads a line of JSON a question and prints one an answer, {"error": ...} if it went wrong. Times are medians'
raw material: milliseconds a call over one burst of calls, by the device's clock.
"""
import argparse
import json
import os
import sys
import time

try:
    import torch
    from torch import nn
except ImportError as e:
    torch, missing = None, f"no PyTorch: {e}"

LEAST_CALLS = 4
MOST_CALLS = 200
DTYPES = ("bf16", "fp32", "tf32")


def set_type(name):
    """The torch type of a type's name; says whether products of float32 may use TF32."""
    if name not in DTYPES:
        raise ValueError(f"dtype is {name}; it must be one of {', '.join(DTYPES)}")
    torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
    return torch.bfloat16 if name == "bf16" else torch.float32


if torch is not None:

    class Mlp(nn.Module):
        def __init__(self, hidden, ffn):
            super().__init__()
            self.up = nn.Linear(hidden, ffn)
            self.act = nn.GELU(approximate="tanh")
            self.down = nn.Linear(ffn, hidden)

        def forward(self, x):
            return self.down(self.act(self.up(x))).square().mean()


def mlp_step(device, dtype, mode, tokens, hidden, ffn):
    """A function that makes one training step."""
    kind = set_type(dtype)
    torch.manual_seed(0)
    model = Mlp(hidden, ffn).to(device=device, dtype=kind)
    x = torch.randn(tokens, hidden, device=device, dtype=kind, requires_grad=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    if mode == "eager":
        loss = model
    elif not hasattr(torch, "compile"):
        raise RuntimeError(f"PyTorch {torch.__version__} has no torch.compile")
    elif mode == "compile":
        loss = torch.compile(model, dynamic=False)
    elif mode == "reduce-overhead":
        loss = torch.compile(model, dynamic=False, mode="reduce-overhead")
    else:
        raise ValueError(f"mode is {mode}; it must be eager, compile or reduce-overhead")

    def step():
        if mode == "reduce-overhead":
            torch.compiler.cudagraph_mark_step_begin()
        optimizer.zero_grad(set_to_none=True)
        x.grad = None
        loss(x).backward()
        optimizer.step()

    return step


def product(device, dtype, m, n, k, transpose_a, transpose_b):
    """A function that multiplies two matrices into memory of its own."""
    kind = set_type(dtype)
    a = torch.randn((k, m) if transpose_a else (m, k), device=device, dtype=kind)
    b = torch.randn((n, k) if transpose_b else (k, n), device=device, dtype=kind)
    c = torch.empty(m, n, device=device, dtype=kind)
    a, b = a.t() if transpose_a else a, b.t() if transpose_b else b
    return lambda: torch.mm(a, b, out=c)


def forget(device):
    """Lets go of memory, and of what was compiled: PyTorch compiles one function for a few sizes only."""
    if hasattr(torch, "compile"):
        torch._dynamo.reset()
    if device == "cuda":
        torch.cuda.empty_cache()


class Timed:
    """Work that is timed in bursts of calls; the host runs ahead within a burst and waits between bursts."""

    def __init__(self, device, dtype, body, warm_up_ms, burst_ms):
        self.device, self.dtype, self.body, self.calls = device, dtype, body, 1
        start = time.perf_counter()
        done = 0
        while done < LEAST_CALLS or time.perf_counter() - start < warm_up_ms / 1e3:
            body()
            self.wait()
            done += 1
            if done == 1:
                start = time.perf_counter()  # the first call compiles
        self.calls = max(1, min(MOST_CALLS, round(burst_ms / max(1e-4, self.time()))))

    def wait(self):
        if self.device == "cuda":
            torch.cuda.synchronize()

    def time(self):
        """Milliseconds a call."""
        set_type(self.dtype)
        if self.device != "cuda":
            start = time.perf_counter()
            for _ in range(self.calls):
                self.body()
            return (time.perf_counter() - start) * 1e3 / self.calls
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(self.calls):
            self.body()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) / self.calls


def host_cost(device):
    """Microseconds that an operation on 8 x 8 float32 tensors costs the host: the best of five tries."""
    set_type("fp32")
    x, w = torch.randn(8, 8, device=device), torch.randn(8, 8, device=device)
    a, b = x.clone().requires_grad_(), w.clone().requires_grad_()

    def chain():
        (a @ b).relu().sum().backward()
        a.grad = b.grad = None

    def microseconds(body, calls=50):  # half of what a device queues
        best = float("inf")
        for attempt in range(25):
            start = time.perf_counter()
            for _ in range(calls):
                body()
            if attempt >= 5:
                best = min(best, (time.perf_counter() - start) * 1e6 / calls)
            if device == "cuda":
                torch.cuda.synchronize()
        return round(best, 3)

    return dict(add_us=microseconds(lambda: x + w), matmul_us=microseconds(lambda: x @ w), chain_us=microseconds(chain))


def versions(device):
    facts = dict(torch=torch.__version__, python=sys.version.split()[0], cuda=torch.version.cuda)
    if device == "cuda":
        facts["device"] = torch.cuda.get_device_name()
    return facts


class Server:
    """Answers questions; keeps what it is asked to time by name."""

    def __init__(self, device):
        self.device = device
        self.timed = {}

    def answer(self, question):
        todo = question.pop("do")
        if torch is None:
            return dict(error=missing)
        if self.device == "cuda" and not torch.cuda.is_available():
            return dict(error=f"PyTorch {torch.__version__} sees no CUDA device")
        if todo == "versions":
            return versions(self.device)
        if todo == "op":
            return host_cost(self.device)
        name = question.pop("id")
        if todo == "prepare":
            what, pace = question.pop("what"), (question.pop("warm_up_ms"), question.pop("burst_ms"))
            body = {"mlp": mlp_step, "product": product}[what](self.device, **question)
            self.timed[name] = Timed(self.device, question["dtype"], body, *pace)
            return dict(calls=self.timed[name].calls)
        if todo == "time":
            return dict(ms=self.timed[name].time())
        if todo == "drop":
            self.timed.pop(name, None)
            if not self.timed:
                forget(self.device)
            return dict(dropped=name)
        raise ValueError(f"do is {todo}; it must be versions, op, prepare, time or drop")

    def serve(self):
        # Whatever else writes to standard output must not come between the answers.
        answers = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        for line in sys.stdin:
            try:
                reply = self.answer(json.loads(line))
            except Exception as e:  # noqa: BLE001 the asker decides what an error means
                text = str(e).strip().splitlines()
                reply = dict(error=f"{type(e).__name__}: {text[0] if text else ''}")
            print(json.dumps(reply), file=answers, flush=True)


def measure(a):
    server = Server(a.device)
    print(json.dumps(server.answer({"do": "versions"})), flush=True)
    for sizes in a.sizes.split(","):
        tokens, hidden, ffn = (int(part) for part in sizes.split("x"))
        for dtype in a.dtypes.split(","):
            for mode in a.modes.split(","):
                line = dict(tokens=tokens, hidden=hidden, ffn=ffn, dtype=dtype, mode=mode)
                try:
                    step = mlp_step(a.device, **line)
                    start = time.perf_counter()
                    if a.ahead:
                        step()
                    else:
                        timed = Timed(a.device, dtype, step, a.warm_up_ms, a.burst_ms)
                        times = sorted(timed.time() for _ in range(a.rounds))
                        line.update(step_ms=times[len(times) // 2], min_ms=times[0], max_ms=times[-1])
                    line.update(seconds=round(time.perf_counter() - start, 2))
                except Exception as e:  # noqa: BLE001 the others are still worth knowing
                    line.update(error=f"{type(e).__name__}: {e}")
                step = timed = None
                forget(a.device)
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    p = argparse.ArgumentParser(description="The MLP step that TP4J measures, in PyTorch.")
    p.add_argument("--serve", action="store_true", help="answer questions from standard input")
    p.add_argument("--ahead", action="store_true", help="compile only")
    p.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    p.add_argument("--sizes", default="8192x4096x16384,64x256x1024,2048x1024x4096", help="TOKENSxHIDDENxFFN,...")
    p.add_argument("--dtypes", default="bf16,fp32")
    p.add_argument("--modes", default="eager,compile,reduce-overhead")
    p.add_argument("--warm-up-ms", type=int, default=400)
    p.add_argument("--burst-ms", type=int, default=60)
    p.add_argument("--rounds", type=int, default=7)
    arguments = p.parse_args()
    if arguments.serve:
        Server(arguments.device).serve()
    elif torch is None or arguments.device == "cuda" and not torch.cuda.is_available():
        print(missing if torch is None else f"PyTorch {torch.__version__} sees no CUDA device; --device cpu measures the CPU")
        sys.exit(77)  # nothing to do here
    else:
        measure(arguments)
