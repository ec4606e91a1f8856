"""Word documents for tests, from the XML of their bodies: the least a reader takes for one."""

import io
import zipfile

_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
    ' xmlns:v="urn:schemas-microsoft-com:vml"'
)


def zipped(**files: bytes) -> bytes:
    """A zip archive; in names `__` stands for `/`, `_xml` for `.xml`."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/").replace("_xml", ".xml"), data)
    return out.getvalue()


def word(body: str, styles: str = "", page: str = "") -> bytes:
    """A Word document of a body and, if given, styles and what stands before the body."""
    types = (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package'
        f'.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{_TYPE}.document.main+xml"/>'
        f'<Override PartName="/word/styles.xml" ContentType="{_TYPE}.styles+xml"/></Types>'
    )
    document = f"<w:document {_NAMESPACES}>{page}<w:body>{body}</w:body></w:document>"
    sheet = f"<w:styles {_NAMESPACES}>{styles}</w:styles>"
    return zipped(
        **{
            "[Content_Types]_xml": types.encode(),
            "_rels__.rels": _relation("officeDocument", "word/document.xml"),
            "word___rels__document_xml.rels": _relation("styles", "styles.xml"),
            "word__document_xml": document.encode(),
            "word__styles_xml": sheet.encode(),
        }
    )


def _relation(kind: str, target: str) -> bytes:
    relation = f'<Relationship Id="r1" Type="{_OFFICE}/{kind}" Target="{target}"/>'
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{relation}</Relationships>'.encode()


def run(text: str, properties: str = "") -> str:
    """A paragraph of one run."""
    return f"<w:p><w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r></w:p>"
