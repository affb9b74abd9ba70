"""Serve a model file on a free loopback port. Runs under the engine's own Python, and imports nothing of the project.

    python serve.py MODEL.gguf NAME CONTEXT SLOTS API_KEY TEMPLATE

The URL is the first line on stdout, once the server answers. It ends when its stdin closes, so that it dies with the
tests, whatever happens to them. An empty API_KEY asks for none; an empty TEMPLATE is the model's own.
"""

import os
import socket
import sys
from pathlib import Path

# Idle OpenMP threads spin by default, which makes two busy cores many times slower. Must be set before the import.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def main() -> None:
    import xllamacpp

    path, name, context, slots, api_key, template = sys.argv[1:]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.model_alias = {name}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = int(context)
    params.n_parallel = int(slots)
    params.cpuparams.n_threads = os.cpu_count() or 2
    params.cpuparams_batch.n_threads = os.cpu_count() or 2
    params.sampling.seed = 1
    params.sampling.temp = 0.0
    params.cache_ram_mib = 256  # 8 GiB by default
    params.n_batch = params.n_ubatch = 256  # a request that was given up is dropped between two batches only
    params.cache_prompt = False  # a reused prefix is computed in other batches, which can flip a word
    params.ui = False
    params.verbosity = 1
    params.api_keys = [api_key] if api_key else []
    if template:
        params.chat_template = Path(template).read_text("utf-8")
    server = xllamacpp.Server(params)  # returns once the model is loaded
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # there is nothing to save, and a batch in work may take long


main()
