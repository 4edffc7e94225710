"""Servers for the tests of URLs: a plain one, one that speaks S3 and checks signatures, one that speaks Blob.

Each serves a dict of name → bytes from memory. Faults are asked for by name, so that a test says what
goes wrong: `fail` answers the next N requests for objects with 503, `cut` breaks the next N bodies off
half-way, `deaf` ignores Range, `change` gives an object another tag after its first range; `lie` names one of `LIES`,
ways of sending something else than was asked for; `elsewhere` is where every request is redirected to; `drip` sends two
bytes a second, `endless` a body that has no length and no end.
"""
import base64
import datetime
import hashlib
import hmac
import http.server
import ssl
import subprocess
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

ACCESS, SECRET, REGION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "eu-test-1"
BLOB_ACCOUNT, BLOB_KEY = "acc", base64.b64encode(bytes(range(64))).decode()


def sign_blobs(fields):
    """What Azure computes over the fields of a token for one container (version 2020-12-06)."""
    lines = [fields.get("sp", ""), fields.get("st", ""), fields.get("se", ""), f"/blob/{BLOB_ACCOUNT}/runs", fields.get("si", ""),
             fields.get("sip", ""), fields.get("spr", ""), fields.get("sv", ""), fields.get("sr", ""), *[""] * 7]
    key = base64.b64decode(BLOB_KEY)
    return base64.b64encode(hmac.new(key, "\n".join(lines).encode(), hashlib.sha256).digest()).decode()


def blob_token(days=1, **changed):
    """A token that reads and lists the container for so many days, only over TLS, as Azure's portal makes it."""
    end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=days)
    fields = {"sp": "rl", "se": end.strftime("%Y-%m-%dT%H:%M:%SZ"), "spr": "https", "sv": "2020-12-06", "sr": "c"}
    return urllib.parse.urlencode({**fields, "sig": sign_blobs(fields), **changed})


def make_certificates(folder):
    """A test authority, and what it signed: a certificate for this machine, one for another, one that has expired."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    run = {"check": True, "capture_output": True, "cwd": folder}
    subprocess.run(["openssl", "req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=authority"], **run)
    for name, place, days in (("good", "IP:127.0.0.1", "2"), ("elsewhere", "DNS:example.org", "2"), ("expired", "IP:127.0.0.1", "-1")):
        subprocess.run(["openssl", "req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", "/CN=server"], **run)
        (folder / f"{name}.ext").write_text(f"subjectAltName={place}")
        subprocess.run(["openssl", "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days",
                        days, "-extfile", f"{name}.ext", "-out", f"{name}.crt"], **run)
        (folder / f"{name}.pem").write_text((folder / f"{name}.key").read_text() + (folder / f"{name}.crt").read_text())
    return folder / "ca.pem"


LIES = ("short", "shifted", "unsaid", "grown", "retagged", "redated")


class Store(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, handler, objects, page=3):
        super().__init__(("127.0.0.1", 0), handler)
        self.objects, self.page = objects, page
        self.lock = threading.Lock()
        self.fail = self.cut = 0
        self.deaf = self.change = self.anonymous = self.drip = self.endless = False
        self.token = self.lie = self.elsewhere = None
        self.headers = []  # of every request
        self.asked = []  # (path, range) of every request

    @property
    def url(self):
        return f"{'https' if isinstance(self.socket, ssl.SSLSocket) else 'http'}://127.0.0.1:{self.server_address[1]}"

    def use_tls(self, certificate):
        """From now on; before the first request."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        return self

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        pass  # a client that hangs up is part of the tests

    def take(self, what):
        with self.lock:
            left = getattr(self, what)
            setattr(self, what, max(0, left - 1))
            return left > 0


class Plain(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, body=b"", **headers):
        self.send_response(code)
        for k, v in headers.items():
            self.send_header(k.replace("_", "-"), v)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def tag(self, body, range_):
        changed = self.server.change and range_ and not range_.startswith("bytes=0-")
        return '"' + hashlib.md5(body + (b"!" if changed else b"")).hexdigest() + '"'

    def redirected(self):
        s = self.server
        s.headers.append(dict(self.headers))
        if s.elsewhere:
            self.answer(307, Location=s.elsewhere + self.path)
        return bool(s.elsewhere)

    def twist(self, range_, part, extra, tag):
        """The answer of a server that is wrong, or that has another object by now."""
        lie, later = self.server.lie, not range_.startswith("bytes=0-")
        first, total = int(range_[len("bytes="):].split("-")[0]), int(extra["Content_Range"].split("/")[1])
        date = "Wed, 01 May 2024 12:00:00 GMT"
        if lie == "short":
            part = part[:len(part) // 2]
        if lie == "grown" and later:
            total += 1
        extra["Content_Range"] = f"bytes {first}-{first + len(part) - 1}/{total}"
        if lie == "shifted" and later:
            extra["Content_Range"] = f"bytes {first - 1}-{first + len(part) - 2}/{total}"
        if lie == "unsaid":
            del extra["Content_Range"]
        if lie == "retagged" and later:
            tag = '"another"'
        if lie == "redated":
            tag, date = "", date if not later else "Wed, 01 May 2024 12:00:01 GMT"
        return part, extra, tag, date

    def send_without_end(self, first, piece, pause_s):
        """Until the client has enough."""
        self.close_connection = True
        self.send_response(200)
        self.end_headers()
        self.wfile.write(first)
        while True:
            self.wfile.write(piece)
            time.sleep(pause_s)

    def send_object(self, name):
        s, range_ = self.server, self.headers.get("Range")
        s.asked.append((self.path, range_))
        if self.redirected():
            return None
        if s.drip or s.endless:
            return self.send_without_end(b'{"traceEvents":[', *((b"  ", 1) if s.drip else (b" " * (1 << 20), 0)))
        if name not in s.objects:
            return self.answer(404)
        if s.take("fail"):
            return self.answer(503, b"<html>busy</html>", Retry_After="0")
        body = s.objects[name]
        tag = self.tag(body, range_)
        if self.headers.get("If-Match") not in (None, tag) and not s.lie:
            return self.answer(412)
        code, part, extra = 200, body, {}
        if range_ and not s.deaf:
            first, last = (int(x) for x in range_[len("bytes="):].split("-"))
            if first >= len(body):
                return self.answer(416)
            part, code = body[first:last + 1], 206
            extra["Content_Range"] = f"bytes {first}-{first + len(part) - 1}/{len(body)}"
        if s.take("cut"):
            self.send_response(code)
            self.send_header("Content-Length", str(len(part)))
            self.end_headers()
            self.wfile.write(part[:len(part) // 2])
            self.close_connection = True
            return None
        date = "Wed, 01 May 2024 12:00:00 GMT"
        if s.lie and code == 206:
            part, extra, tag, date = self.twist(range_, part, extra, tag)
        return self.answer(code, part, **({"ETag": tag} if tag else {}), Last_Modified=date, **extra)

    def do_GET(self):
        self.send_object(urllib.parse.unquote(urllib.parse.urlsplit(self.path).path.lstrip("/")))


def sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature(handler, secret):
    """The signature the request should carry, by the published rules of version 4; independent of libcurl."""
    given = handler.headers["Authorization"]
    fields = dict(p.strip().split("=", 1) for p in given.split(" ", 1)[1].split(","))
    access, date, region, service, last = fields["Credential"].split("/")
    names = fields["SignedHeaders"].split(";")
    url = urllib.parse.urlsplit(handler.path)
    query = "&".join(sorted(p if "=" in p else p + "=" for p in url.query.split("&"))) if url.query else ""
    headers = "".join(f"{n}:{' '.join(handler.headers[n].split())}\n" for n in names)
    payload = handler.headers.get("x-amz-content-sha256", hashlib.sha256(b"").hexdigest())
    canonical = "\n".join(["GET", url.path, query, headers, ";".join(names), payload])
    stamp = handler.headers["x-amz-date"]
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, f"{date}/{region}/{service}/{last}",
                      hashlib.sha256(canonical.encode()).hexdigest()])
    key = sign(sign(sign(sign(("AWS4" + secret).encode(), date), region), service), last)
    age = datetime.datetime.utcnow() - datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ")
    right = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    return (right == fields["Signature"] and access == ACCESS and region == REGION and service == "s3"
            and abs(age.total_seconds()) < 900 and {"host", "x-amz-date"} <= set(names))


class S3(Plain):
    def allowed(self):
        if self.server.anonymous:
            return "Authorization" not in self.headers
        if self.server.token and self.headers.get("x-amz-security-token") != self.server.token:
            return False
        return "Authorization" in self.headers and signature(self, SECRET)

    def list(self, query):
        s = self.server
        names = sorted(n for n in s.objects if n.startswith(query.get("prefix", "")))
        start = int(query.get("continuation-token", "0=+/").split("=")[0])
        page = names[start:start + s.page]
        more = start + s.page < len(names)
        body = '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        for n in page:
            body += (f"<Contents><Key>{escape(n)}</Key><LastModified>2024-05-01T12:00:00.000Z</LastModified>"
                     f"<ETag>&quot;{hashlib.md5(s.objects[n]).hexdigest()}&quot;</ETag>"
                     f"<Size>{len(s.objects[n])}</Size></Contents>")
        body += f"<IsTruncated>{str(more).lower()}</IsTruncated>"
        if more:
            body += f"<NextContinuationToken>{start + s.page}=+/</NextContinuationToken>"
        self.answer(200, (body + "</ListBucketResult>").encode(), Content_Type="application/xml")

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        bucket, _, key = urllib.parse.unquote(url.path).lstrip("/").partition("/")
        if self.redirected():
            self.server.asked.append((self.path, None))
            return None
        if not self.allowed():
            return self.answer(403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>")
        if bucket != "logs":
            return self.answer(404)
        if not key:
            self.server.asked.append((self.path, None))
            return self.list(dict(urllib.parse.parse_qsl(url.query)))
        return self.send_object(key)


class Blob(Plain):
    def has_token(self, query):
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        is_tls = isinstance(self.connection, ssl.SSLSocket)
        return (query.get("sig") == sign_blobs(query) and query.get("se", "") > now and set("rl") <= set(query.get("sp", ""))
                and (is_tls or query.get("spr") != "https"))

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        container, _, key = urllib.parse.unquote(url.path).lstrip("/").partition("/")
        if not self.server.anonymous and not self.has_token(query):
            return self.answer(403)
        if container != "runs":
            return self.answer(404)
        if query.get("comp") != "list":
            return self.send_object(key)
        s = self.server
        s.asked.append((self.path, None))
        names = sorted(n for n in s.objects if n.startswith(query.get("prefix", "")))
        start = int(query.get("marker", "0"))
        body = '\ufeff<?xml version="1.0" encoding="utf-8"?><EnumerationResults ContainerName="runs"><Blobs>'
        for n in names[start:start + s.page]:
            body += (f"<Blob><Name>{escape(n)}</Name><Properties><Last-Modified>Wed, 01 May 2024 12:00:00 GMT"
                     f"</Last-Modified><Etag>0x8D</Etag><Content-Length>{len(s.objects[n])}</Content-Length>"
                     "</Properties></Blob>")
        more = start + s.page < len(names)
        body += f"</Blobs><NextMarker>{start + s.page if more else ''}</NextMarker></EnumerationResults>"
        return self.answer(200, body.encode())
