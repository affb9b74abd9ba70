"""Resources: instructions, templates, skills and the system prompt they become part of."""
