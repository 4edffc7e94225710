"""Sentences that users of the package read, in English and Chinese. The program tacho has its own."""
from typing import Any, Optional

from . import _program

SENTENCES = {
    # what a notebook shows
    "step": ("Average step: {time}", "平均步：{time}"),
    "whole": ("Whole recording: {time}", "整个记录：{time}"),
    "rows": ("{shown} of {all} rows", "共 {all} 行，显示 {shown} 行"),
    "no_rows": ("no rows", "没有行"),
    "operators": ("Operators that take longest", "用时最长的算子"),
    "ranges": ("Ranges of the program", "程序自己标记的区间"),
    "functions": ("Python functions that take longest", "用时最长的 Python 函数"),
    "recorded": ("Recorded: {what}", "已记录：{what}"),
    "recorded_nothing": ("Nothing was recorded: no supported framework ran, and the program marked no ranges. "
                         "tacho.record_function(\"name\") marks one; with_stack=True (%%tacho --stack) records "
                         "Python functions.",
                         "什么都没有记录到：没有运行受支持的框架，程序也没有标记区间。"
                         "tacho.record_function(\"名称\") 可以标记区间；with_stack=True（%%tacho --stack）记录 Python 函数。"),
    "save": ("save the trace", "保存追踪"),
    "more": ("the whole page: {command}, or trace.serve()", "完整页面：{command}，或 trace.serve()"),
    # the states of a profiler
    "not_started": ("The profiler has not recorded anything yet", "尚未记录任何内容"),
    "is_recording": ("The profiler is recording", "正在记录"),
    "is_passive": ("Another recording is already running; this profiler only marks steps in it",
                   "已有其他记录正在进行，此 profiler 只在其中标记步"),
    # callbacks of trainers
    "callback_done": ("tacho: recorded {steps} in {path}; for more: tacho overview {path}",
                      "tacho：已记录{steps}，位于 {path}；查看更多：tacho overview {path}"),
    "step_one": ("step {first}", "第 {first} 步"),
    "step_several": ("steps {first} to {last}", "第 {first} 至 {last} 步"),
    "callback_too_short": ("tacho: nothing was recorded: training ended after {count} steps, and the first {wait} steps "
                           "are not recorded; pass a smaller wait=",
                           "tacho：没有记录：训练只有 {count} 步，而前 {wait} 步不记录；请减小 wait="),
    # magics
    "cell_took": ("Took {time}", "用时 {time}"),
    "magic_option": ("unknown option {option}; options: {options}", "未知选项 {option}；可用选项：{options}"),
    "magic_value": ("{option} needs a value", "{option} 需要一个值"),
    "magic_rest": ("%%tacho takes only options on its line, not {text}", "%%tacho 这一行只能有选项，不能有 {text}"),
    "magic_empty": ("%tacho STATEMENT records a statement; %%tacho at the top of a cell records the cell",
                    "%tacho 语句 记录一条语句；在单元格首行写 %%tacho 记录整个单元格"),
    # the server
    "serving": ("Serving {path} at {url}; stop() ends it", "正在提供 {path}：{url}；stop() 结束"),
    "server_ended": ("The server has ended", "服务器已结束"),
}


# Kinds of events: one, several, and in Chinese.
KINDS = {
    "step": ("step", "steps", "{n} 步"),
    "op": ("operator call", "operator calls", "{n} 次算子调用"),
    "annotation": ("range", "ranges", "{n} 个区间"),
    "module": ("module call", "module calls", "{n} 次模块调用"),
    "kernel": ("kernel", "kernels", "{n} 个核函数"),
    "memcpy": ("copy", "copies", "{n} 次拷贝"),
    "memset": ("memset", "memsets", "{n} 次置零"),
    "runtime": ("runtime call", "runtime calls", "{n} 次运行时调用"),
    "collective": ("collective", "collectives", "{n} 次集合通信"),
    "data_loading": ("wait for data", "waits for data", "{n} 次数据等待"),
    "forward": ("forward pass", "forward passes", "{n} 次前向"),
    "backward": ("backward pass", "backward passes", "{n} 次反向"),
    "optimizer": ("optimizer range", "optimizer ranges", "{n} 个优化器区间"),
    "python": ("Python call", "Python calls", "{n} 次 Python 函数调用"),
    "garbage": ("garbage collection", "garbage collections", "{n} 次垃圾回收"),
    "compile": ("compilation", "compilations", "{n} 次编译"),
    "import": ("import", "imports", "{n} 次导入"),
    "memory": ("allocation or release", "allocations and releases", "{n} 次分配与释放"),
    "instant": ("mark", "marks", "{n} 个标记"),
}


def kind_words(kind: str, n: int, language: Optional[str] = None) -> str:
    """5 steps; a kind that is not listed is named as the program names it."""
    one, several, chinese = KINDS.get(kind, (kind, kind, "{n} " + kind))
    if (language or _program.language()) == "zh":
        return chinese.format(n=f"{n:,}")
    return f"{n:,} {one if n == 1 else several}"


def say(key: str, language: Optional[str] = None, **values: Any) -> str:
    texts = SENTENCES[key]
    return texts[(language or _program.language()) == "zh"].format(**values)
