#!/usr/bin/python3
"""A folder in memory, through FUSE, that answers late: slow_folder.py FOLDER MILLISECONDS [BYTES]

With BYTES it is a disk on which the user's quota has so many bytes.

Mounts itself at FOLDER, prints a line when it is ready, and serves until it is unmounted. It speaks the kernel's protocol
directly, so that nothing has to be installed. Only what programs do with a folder of recordings is there.
"""
import ctypes
import errno
import os
import stat
import struct
import sys
import time

(LOOKUP, FORGET, GETATTR, SETATTR, MKDIR, UNLINK, RMDIR, RENAME, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC, FLUSH, INIT, OPENDIR,
 READDIR, RELEASEDIR, FSYNCDIR, ACCESS, CREATE, INTERRUPT, DESTROY, BATCH_FORGET, FALLOCATE, RENAME2) = (
    1, 2, 3, 4, 9, 10, 11, 12, 14, 15, 16, 17, 18, 20, 25, 26, 27, 28, 29, 30, 34, 35, 36, 38, 42, 43, 45)
NO_ANSWER = (FORGET, INTERRUPT, BATCH_FORGET)
QUICK = (INIT, GETATTR, STATFS, ACCESS)  # of these the kernel asks all the time
HEAD = struct.Struct("<IIQQIIIHH")
ATTR = struct.Struct("<QQQQQQIIIIIIIIII")
MOST_WRITE = 128 << 10
SET_MODE, SET_UID, SET_GID, SET_SIZE = 1, 2, 4, 8
ROOT = 1


class Node:
    def __init__(self, mode, uid=0, gid=0):
        self.mode, self.uid, self.gid, self.data, self.names = mode, uid, gid, bytearray(), {}
        self.changed = int(time.time())


class Folder:
    def __init__(self, most_bytes):
        self.most_bytes = most_bytes
        self.nodes = {ROOT: Node(stat.S_IFDIR | 0o777)}
        self.last = ROOT

    def attr(self, number):
        n = self.nodes[number]
        return ATTR.pack(number, len(n.data), (len(n.data) + 511) // 512, n.changed, n.changed, n.changed, 0, 0, 0, n.mode, 1, n.uid,
                         n.gid, 0, 4096, 0)

    def entry(self, number):
        return struct.pack("<QQQQII", number, 0, 1, 1, 0, 0) + self.attr(number)

    def attr_out(self, number):
        return struct.pack("<QII", 1, 0, 0) + self.attr(number)

    def find(self, parent, name):
        number = self.nodes[parent].names.get(name)
        if number is None:
            raise OSError(errno.ENOENT, "")
        return number

    def add(self, parent, name, mode, caller):
        self.last += 1
        self.nodes[self.last] = Node(mode, *caller)
        self.nodes[parent].names[name] = self.last
        return self.last

    def rename(self, parent, body):
        to, names = struct.unpack_from("<Q", body)[0], body[8:]
        old, new = names.split(b"\0")[:2]
        self.nodes[to].names[new] = self.find(parent, old)
        del self.nodes[parent].names[old]
        return b""

    def set_attr(self, number, body):
        valid, _, _, size = struct.unpack_from("<IIQQ", body)
        mode, _, uid, gid = struct.unpack_from("<IIII", body, 68)
        n = self.nodes[number]
        if valid & SET_SIZE:
            n.data = n.data[:size] + bytes(max(0, size - len(n.data)))
        n.mode = n.mode & ~0o7777 | mode & 0o7777 if valid & SET_MODE else n.mode
        n.uid, n.gid = uid if valid & SET_UID else n.uid, gid if valid & SET_GID else n.gid
        return self.attr_out(number)

    def check_quota(self, number, end):
        others = sum(len(n.data) for i, n in self.nodes.items() if i != number)
        if others + max(end, len(self.nodes[number].data)) > self.most_bytes:
            raise OSError(errno.EDQUOT, "")

    def write(self, number, body):
        _, at, size = struct.unpack_from("<QQI", body)
        self.check_quota(number, at + size)
        data, n = body[40:40 + size], self.nodes[number]
        n.data += bytes(max(0, at - len(n.data)))
        n.data[at:at + size] = data
        n.changed = int(time.time())
        return struct.pack("<II", size, 0)

    def allocate(self, number, body):
        _, at, size, mode = struct.unpack_from("<QQQI", body)
        if mode:
            raise OSError(errno.EOPNOTSUPP, "")
        self.check_quota(number, at + size)
        self.nodes[number].data += bytes(max(0, at + size - len(self.nodes[number].data)))
        return b""

    def list(self, number, body):
        _, at, most = struct.unpack_from("<QQI", body)
        out = b""
        for i, (name, child) in enumerate(list(self.nodes[number].names.items())[at:], at + 1):
            one = struct.pack("<QQII", child, i, len(name), self.nodes[child].mode >> 12) + name
            one += bytes(-len(one) % 8)
            if len(out) + len(one) > most:
                break
            out += one
        return out

    def answer(self, op, number, body, caller):
        name = body.split(b"\0")[0]
        if op == INIT:
            return struct.pack("<IIIIHHIIHHII24x", 7, 31, 65536, 0, 12, 9, MOST_WRITE, 1, 0, 0, 0, 0)
        if op == LOOKUP:
            return self.entry(self.find(number, name))
        if op == GETATTR:
            return self.attr_out(number)
        if op == SETATTR:
            return self.set_attr(number, body)
        if op in (OPEN, OPENDIR):
            return struct.pack("<QIi", 0, 0, 0)
        if op == READ:
            _, at, size = struct.unpack_from("<QQI", body)
            return bytes(self.nodes[number].data[at:at + size])
        if op == WRITE:
            return self.write(number, body)
        if op == STATFS:
            return struct.pack("<QQQQQIIII24x", 1 << 30, 1 << 30, 1 << 30, 1 << 20, 1 << 20, 4096, 255, 4096, 0)
        if op == MKDIR:
            mode, umask = struct.unpack_from("<II", body)
            return self.entry(self.add(number, body[8:].split(b"\0")[0], stat.S_IFDIR | mode & ~umask & 0o7777, caller))
        if op == CREATE:
            _, mode, umask = struct.unpack_from("<III", body)
            made = self.add(number, body[16:].split(b"\0")[0], stat.S_IFREG | mode & ~umask & 0o7777, caller)
            return self.entry(made) + struct.pack("<QIi", 0, 0, 0)
        if op in (UNLINK, RMDIR):
            self.find(number, name)
            del self.nodes[number].names[name]
            return b""
        if op == RENAME:
            return self.rename(number, body)
        if op == RENAME2:
            if struct.unpack_from("<I", body, 8)[0]:
                raise OSError(errno.EINVAL, "")
            return self.rename(number, body[:8] + body[16:])
        if op == READDIR:
            return self.list(number, body)
        if op == FALLOCATE:
            return self.allocate(number, body)
        if op in (RELEASE, RELEASEDIR, FSYNC, FSYNCDIR, FLUSH, ACCESS, DESTROY):
            return b""
        raise OSError(errno.ENOSYS, "")


def serve(fd, wait_s, most_bytes):
    folder = Folder(most_bytes)
    while True:
        try:
            asked = os.read(fd, MOST_WRITE + 4096)
        except InterruptedError:
            continue
        except OSError as why:
            if why.errno in (errno.ENOENT, errno.EAGAIN):
                continue
            return  # unmounted
        _, op, unique, number, uid, gid, _, _, _ = HEAD.unpack_from(asked)
        if op in NO_ANSWER:
            continue
        if op not in QUICK:
            time.sleep(wait_s)
        try:
            error, out = 0, folder.answer(op, number, asked[HEAD.size:], (uid, gid))
        except OSError as why:
            error, out = -why.errno, b""
        try:
            os.write(fd, struct.pack("<IiQ", 16 + len(out), error, unique) + out)
        except OSError as why:
            if why.errno != errno.ENOENT:  # nobody waits any more
                return


def main(place, wait_ms, most_bytes=1 << 40):
    fd = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={fd},rootmode=40777,user_id=0,group_id=0,allow_other"
    if libc.mount(b"slow", os.fsencode(place), b"fuse", 0, options.encode()) != 0:
        return f"cannot mount: {os.strerror(ctypes.get_errno())}"
    print("ready", flush=True)
    serve(fd, float(wait_ms) / 1000, int(most_bytes))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
