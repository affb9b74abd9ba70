"""Benchmarks: what agentcli costs, as ratios to floors measured in the same run. No timed test is in the suite."""
