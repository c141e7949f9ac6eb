import { deflateSync } from 'node:zlib';

// The smallest whole files of each type that a dispute takes. `note` makes files of other bytes.

export function pdf(note = ''): Buffer {
  return Buffer.from(
    `%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj\n% ${note}\ntrailer << >>\n%%EOF\n`,
    'latin1',
  );
}

/** A picture of one pixel. The checksums of its parts are zero, which no reader of a header compares. */
export function png(note = ''): Buffer {
  const part = (type: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(type, 'latin1'), data, Buffer.alloc(4)]);
  };
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    part('IHDR', Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0])),
    ...(note === '' ? [] : [part('tEXt', Buffer.from(`note\0${note}`, 'latin1'))]),
    part('IDAT', deflateSync(Buffer.from([0, 0]))),
    part('IEND', Buffer.alloc(0)),
  ]);
}

/** The frame of a picture of one pixel, without its content. */
export function jpeg(note = ''): Buffer {
  const comment = Buffer.from(`\xff\xfe\0${String.fromCharCode(note.length + 2)}${note}`, 'latin1');
  const frame = Buffer.from([0xff, 0xc0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0]);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), comment, frame, Buffer.from([0xff, 0xd9])]);
}
