"""The parts of a domain that have changed since an earlier run, and the tasks that have to do with them."""
