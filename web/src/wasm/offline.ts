// Keeps the files of the site, so that it opens without a network after the first visit. The list and its version are
// written in by site.mjs; a new version replaces the old one when the page is loaded the next time.
declare const FILES: readonly string[];
declare const VERSION: string;

interface Scope {
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
  addEventListener(type: string, react: (e: ExtendableEvent) => void): void;
}
interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
  respondWith(answer: Promise<Response>): void;
  request: Request;
}

const scope = globalThis as unknown as Scope;
const cacheName = `tacho-${VERSION}`;

scope.addEventListener("install", (e) =>
  e.waitUntil(
    caches
      .open(cacheName)
      .then((kept) => kept.addAll([...FILES]))
      .then(() => scope.skipWaiting()),
  ),
);

scope.addEventListener("activate", (e) =>
  e.waitUntil(
    caches
      .keys()
      .then((all) => Promise.all(all.filter((n) => n.startsWith("tacho-") && n !== cacheName).map((n) => caches.delete(n))))
      .then(() => scope.clients.claim()),
  ),
);

scope.addEventListener("fetch", (e) => {
  const url = new URL(e.request.url);
  if (e.request.method !== "GET" || url.origin !== location.origin) return;
  // The page is one file, whatever its parameters ask for.
  e.respondWith(caches.match(e.request, { ignoreSearch: true }).then((kept) => kept ?? fetch(e.request)));
});
