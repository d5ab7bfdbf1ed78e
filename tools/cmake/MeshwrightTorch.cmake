# Filled by the set-up part.
