import type { Reply } from './reply.ts'

/** A body that is all here. */
export type WholeBody = string | Uint8Array

/** Whether all of a body is here, and none of it is made while it is sent. */
export const isWhole = (body: Reply['body']): body is WholeBody | null =>
  body === null || typeof body === 'string' || body instanceof Uint8Array

/** How many bytes a body has. */
export const sizeOf = (body: WholeBody | null): number => (body === null ? 0 : Buffer.byteLength(body))

/** The bytes themselves where there are some: a file of the pages is kept once, whoever reads it. */
export const bytesOf = (body: WholeBody): Buffer =>
  typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
