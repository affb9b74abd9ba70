"""Command words: what a word of a command is, and the commands that run others."""

Word = str | None
"""A word as the command gets it; None if only a run would tell (`$x`, `*.py`, `$(…)`)."""

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish"})

PREFIXES = frozenset({"time", "nohup", "command", "builtin", "exec", "coproc", "timeout", "nice"})
"""Commands that only run another one, which is then judged in their place."""

RUNNERS = frozenset({
    "sudo", "doas", "env", "xargs", "find", "nice", "ionice", "setsid", "stdbuf", "timeout", "time", "watch",
    "parallel", "coproc", "strace", "nohup", "command", "exec", "builtin", "chroot", "unshare", "busybox", "script",
    "flock", "su", "ssh",
})  # fmt: skip
"""Commands that run what follows somewhere among their arguments."""
