import type { Environment } from './config.ts'
import { readRegularFile } from './regular-file.ts'

/** Settings whose value may lie in a file, which the variable `<name>_FILE` names. */
export const SECRET_SETTINGS = ['JWT_SECRET', 'DB_DSN', 'OPAMP_SHARED_SECRET', 'OIDC_CLIENT_SECRET'] as const
/** No secret is longer: a larger file is refused as the wrong one. */
const SECRET_BYTES_MAX = 65_536

/**
 * The environment, with the secrets that lie in files under the names that they have as variables. One line break at a
 * file's end does not count: editors and `echo` put it there. An error never quotes what a file says.
 */
export function readSecretFiles(
  env: Environment,
): { ok: true; env: Environment } | { ok: false; error: string } {
  const found: Record<string, string> = {}
  for (const name of SECRET_SETTINGS) {
    const file = env[`${name}_FILE`]
    if (file === undefined || file === '') continue
    if (env[name] !== undefined && env[name] !== '')
      return { ok: false, error: `${name} and ${name}_FILE are both set: one of them has to go` }
    const read = readSecret(file)
    if (!read.ok) return { ok: false, error: `${name}_FILE: ${file} ${read.fault}` }
    found[name] = read.text
  }
  return { ok: true, env: { ...env, ...found } }
}

function readSecret(file: string): { ok: true; text: string } | { ok: false; fault: string } {
  let bytes: Buffer
  try {
    const found = readRegularFile(file, SECRET_BYTES_MAX + 1)
    if (found === null) return { ok: false, fault: 'is no regular file' }
    bytes = found
  } catch (error) {
    return { ok: false, fault: `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})` }
  }
  if (bytes.byteLength > SECRET_BYTES_MAX)
    return { ok: false, fault: `is no secret: it has more than ${SECRET_BYTES_MAX} bytes` }
  const text = bytes.toString('utf8').replace(/\r?\n$/, '')
  if (text === '') return { ok: false, fault: 'is empty' }
  return { ok: true, text }
}
