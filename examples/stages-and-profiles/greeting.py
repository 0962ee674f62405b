def greet(name):
    print("debug", name)
    return "Hello " + name
