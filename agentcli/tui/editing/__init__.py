"""Writing: completion, history, drafts, pastes, and text from other programs."""
