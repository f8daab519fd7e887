import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/**
 * The beginning of a regular file, at most so many bytes of it; null for anything else: for a pipe that nobody writes to
 * one would wait for ever, and a device may never end. Throws as `fs` does where it cannot be read.
 */
export function readRegularFile(file: string, bytesMax: number): Buffer | null {
  const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(handle)
    if (!stat.isFile()) return null
    // A file of the kernel says that it has no bytes, and has some.
    const bytes = Buffer.alloc(Math.min(bytesMax, Math.max(stat.size, 65_536) + 1))
    let length = 0
    while (length < bytes.byteLength) {
      const read = readSync(handle, bytes, length, bytes.byteLength - length, null)
      if (read === 0) break
      length += read
    }
    return bytes.subarray(0, length)
  } finally {
    closeSync(handle)
  }
}
