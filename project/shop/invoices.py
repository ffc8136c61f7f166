from project.shop.models import Order

TOP, LEFT, LEADING = 780, 60, 18  # points, on A4


def invoice_pdf(order: Order) -> bytes:
    return one_page_pdf(invoice_lines(order))


def invoice_lines(order: Order) -> list[str]:
    items = [
        f"{item.quantity} x {item.product.name} ({item.product.sku})  EUR {item.subtotal}" for item in order.items.all()
    ]
    return [
        f"Invoice for order {order.pk}",
        f"{order.customer.name}, {order.customer.city}",
        f"{order.created_at:%d %B %Y}",
        "",
        *items,
        "",
        f"Total  EUR {order.total}",
    ]


def one_page_pdf(lines: list[str]) -> bytes:
    """Lay the lines, one below the other in Helvetica, on one A4 page (PDF 1.4, ISO 32000-1, 7.5)."""
    text = f"BT /F1 12 Tf {LEFT} {TOP} Td {LEADING} TL\n".encode()
    text += b"".join(b"(%s) Tj T*\n" % _literal(line) for line in lines) + b"ET"
    return _file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
            b" /Resources << /Font << /F1 5 0 R >> >> >>",
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        ]
    )


def _literal(line: str) -> bytes:
    escaped = line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return escaped.encode("cp1252", "replace")


def _file(objects: list[bytes]) -> bytes:
    content, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(content))
    return content + b"xref\n0 %d\n%s%s" % (size, table, trailer)
