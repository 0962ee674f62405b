"""What a child sees of the machine: the sandbox around it, or a room in place of the workspace.

bubblewrap    Builds the bubblewrap command line: what is mounted how, and which variables are passed on.
containers    Builds the command line of a container of Docker or Podman instead.
hidden_paths  Which paths a sandbox hides or must not follow: an agent's links, root's files, sockets.
probe         Tests whether a sandbox can be made on this machine, and inside another sandbox.
room          Builds the command line of a command that sees a room in place of the workspace.
room_entry    The script that such a command line starts: it makes the mounts, then becomes the command.
room_probe    Tests whether this machine can show a room in place of the workspace.

Used by: `process.start` for each child; engine and gates to ask whether it would work here.
Uses: ports, errors and, to try it, `process.run`; `engine/wiring/sandbox` decides which paths are shown.
"""
