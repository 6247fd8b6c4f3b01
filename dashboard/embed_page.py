#!/usr/bin/env python3
"""Puts the page into a C++ source: embed_page.py FOLDER OUTPUT BROTLI, called by the build.

index.html names scripts and styles, which a browser can load one by one while somebody works on
them. The program holds one script and one style, without comments and indents, plain and packed:
fewer requests, and two thirds of the bytes.
"""
import gzip
import pathlib
import re
import subprocess
import sys

LINE = 24  # bytes in a line of the source
SCRIPT = re.compile(r'<script defer src="([^"]+)"></script>\n')
STYLE = re.compile(r'<link rel="stylesheet" href="([^"]+)">\n')


def stripped(text):
    """Without indents, empty lines, and comments that fill lines."""
    lines, comment = [], False
    for line in map(str.strip, text.split("\n")):
        comment = comment or line.startswith("/*")
        if line and not comment and not line.startswith("//"):
            lines.append(line)
        if comment and line.endswith("*/"):
            comment = False
    return "\n".join(lines) + "\n"


def bundle(root):
    """The files of the page by their names."""
    html = (root / "index.html").read_text()
    files = {}
    for name, tag, pattern, between in (("page.js", '<script defer src="page.js"></script>\n', SCRIPT, ";\n"),
                                        ("page.css", '<link rel="stylesheet" href="page.css">\n', STYLE, "")):
        parts = pattern.findall(html)
        # Libraries are as small as they get; a line of theirs may hold anything.
        texts = [(root / part).read_text() for part in parts]
        texts = [text if part.startswith("vendor/") else stripped(text)
                 for part, text in zip(parts, texts)]
        files[name] = between.join(texts)
        html = pattern.sub(tag, html, count=1)
        html = pattern.sub(lambda found: found[0] if found[0] == tag else "", html)
    files["index.html"] = html
    licences = sorted((root / "vendor/licences").glob("*.txt"))
    files["licences.txt"] = "\n\n".join(f"{file.stem}\n\n{file.read_text()}" for file in licences)
    return files


def array(name, data):
    lines = [",".join(str(byte) for byte in data[i:i + LINE]) for i in range(0, len(data), LINE)]
    return f"constexpr unsigned char {name}[] = {{\n" + ",\n".join(lines) + "};\n"


def main(folder, output, brotli):
    parts, rows = [], []
    for number, (name, text) in enumerate(sorted(bundle(pathlib.Path(folder)).items())):
        plain = text.encode()
        forms = {"Plain": plain, "Gzip": gzip.compress(plain, 9, mtime=0),
                 "Brotli": subprocess.run([brotli, "-q", "11", "-c"], input=plain, check=True,
                                          stdout=subprocess.PIPE).stdout}
        parts += [array(f"k{form}{number}", data) for form, data in forms.items()]
        row = ", ".join(f"text(k{form}{number}, {len(data)})" for form, data in forms.items())
        rows.append(f'    {{"{name}", {row}}},\n')
    pathlib.Path(output).write_text(
        '#include "dashboard/page_files.h"\n#include <array>\nnamespace attune {\nnamespace {\n' +
        "".join(parts) +
        "std::string_view text(const unsigned char* data, std::size_t size) {\n"
        "  return {reinterpret_cast<const char*>(data), size};\n}\n}  // namespace\n"
        "std::span<const PageFile> page_files() {\n"
        f"  static const std::array<PageFile, {len(rows)}> files = {{{{\n" + "".join(rows) +
        "  }};\n  return files;\n}\n}  // namespace attune\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
