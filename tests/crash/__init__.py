"""Processes killed with SIGKILL in the middle of runs: nothing is lost, nothing counted twice."""
