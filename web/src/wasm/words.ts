// The message when the program itself has ended; no table of texts may be there yet.
const WORDS = {
  en: {
    memory:
      "The trace needs more memory than a page may have (4 GiB). Make a small one of it with tacho for Linux and open that: tacho export TRACE --to tacho -o small.tacho",
    fault: "tacho has ended in this page; load the page again.",
  },
  zh: {
    memory:
      "追踪所需内存超过网页可用的上限（4 GiB）。请先用 Linux 版 tacho 缩小后再打开：tacho export 追踪 --to tacho -o small.tacho",
    fault: "tacho 在此网页中已终止，请重新加载网页。",
  },
};

export function endOf(memory: boolean): string {
  const words = document.documentElement.lang.startsWith("zh") ? WORDS.zh : WORDS.en;
  return memory ? words.memory : words.fault;
}
