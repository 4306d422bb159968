const utf8 = (): InstanceType<typeof TextDecoder> => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const wholeTexts = utf8();

/** The text of bytes in UTF-8, a byte order mark included; where they are none, the offset of the first wrong character. */
export function decodeUtf8(bytes: Uint8Array): string | { readonly invalidAt: number } {
  try {
    return wholeTexts.decode(bytes);
  } catch {
    return { invalidAt: firstInvalid(bytes) };
  }
}

/** Found by halving: a prefix that ends inside a character is still right. */
function firstInvalid(bytes: Uint8Array): number {
  let right = 0;
  let wrong = bytes.length;
  while (right + 1 < wrong) {
    const middle = (right + wrong) >> 1;
    if (isPrefix(bytes.subarray(0, middle))) right = middle;
    else wrong = middle;
  }
  return right;
}

function isPrefix(bytes: Uint8Array): boolean {
  try {
    utf8().decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
