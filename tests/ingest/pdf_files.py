"""PDF files for tests, made by fpdf2; Chinese ones by hand, with a font of the reader."""

import io
from collections.abc import Callable

from fpdf import FPDF
from PIL import Image

Draw = Callable[[FPDF], None]


def made(*pages: Draw, **options: str) -> bytes:
    """A PDF, one drawing function a page; `title`, `user` and `owner` (passwords) as options."""
    pdf = FPDF()
    pdf.set_font("helvetica", size=12)
    if title := options.get("title"):
        pdf.set_title(title)
    if "user" in options or "owner" in options:
        pdf.set_encryption(
            owner_password=options.get("owner", "o"), user_password=options.get("user")
        )
    for draw in pages:
        pdf.add_page()
        draw(pdf)
    return bytes(pdf.output())


def words(text: str) -> Draw:
    """A page of prose."""

    def draw(pdf: FPDF) -> None:
        pdf.multi_cell(0, text=text)

    return draw


def image() -> Draw:
    """A page that is a picture."""

    def draw(pdf: FPDF) -> None:
        picture = Image.effect_noise((200, 200), 80).convert("RGB")
        data = io.BytesIO()
        picture.save(data, "PNG")
        data.seek(0)
        pdf.image(data, 20, 20, 150)

    return draw


def white(text: str, *, on_dark: bool = False) -> Draw:
    """White words, on the white page or on a dark bar."""

    def draw(pdf: FPDF) -> None:
        pdf.set_text_color(0, 0, 0)
        pdf.cell(0, 10, "Shown in black.", new_x="LMARGIN", new_y="NEXT")
        if on_dark:
            pdf.set_fill_color(20, 20, 80)
        pdf.set_text_color(255, 255, 255)
        pdf.cell(0, 10, text, fill=on_dark, new_x="LMARGIN", new_y="NEXT")
        pdf.set_text_color(0, 0, 0)

    return draw


def chinese(text: str) -> bytes:
    """A page of Chinese in the predefined font STSong, as old PDF files have it."""
    codes = text.encode("utf-16-be").hex().upper()
    stream = f"BT /F1 14 Tf 50 700 Td <{codes}> Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H"
        b" /DescendantFonts [6 0 R] >>",
        b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo"
        b" << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> /FontDescriptor 7 0 R >>",
        b"<< /Type /FontDescriptor /FontName /STSong-Light /Flags 4 /FontBBox [0 -200 1000 900]"
        b" /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>",
    ]
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets: list[int] = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        start,
    )
    return bytes(out)
