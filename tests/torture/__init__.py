"""Torture: sessions whose writer is killed, whose disk is full, whose file two processes want. A command, see __main__."""
