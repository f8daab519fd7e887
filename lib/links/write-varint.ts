/** A whole number from 0 on as a varint of protobuf. */
export function writeVarint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  while (rest > 0x7f) {
    bytes.push((rest % 128) | 0x80)
    rest = Math.floor(rest / 128)
  }
  return Uint8Array.from([...bytes, rest])
}
