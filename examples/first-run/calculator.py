def add(a, b):
    return a - b


def double(a):
    return a + a + 1
