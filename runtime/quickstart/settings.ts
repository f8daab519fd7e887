import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What the quick start makes up once and keeps in its data folder, readable by its owner only. */
export interface QuickStartSettings {
  jwtSecret: string
  databasePassword: string
  adminEmail: string
  adminPassword: string
}

const FILE = 'settings.json'

/** Read the settings of a data folder; make them up on the first start. */
export async function openSettings(directory: string): Promise<QuickStartSettings> {
  await mkdir(directory, { recursive: true })
  const file = join(directory, FILE)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text !== null) return readSettings(file, text)
  const settings = {
    jwtSecret: randomBytes(32).toString('base64url'),
    databasePassword: randomBytes(18).toString('base64url'),
    adminEmail: 'admin@example.com',
    adminPassword: randomBytes(12).toString('base64url'),
  }
  // Renamed when it is whole, so that a start that is cut off leaves either all of it or nothing.
  await writeFile(`${file}.new`, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
  return settings
}

function readSettings(file: string, text: string): QuickStartSettings {
  const found = JSON.parse(text) as Partial<QuickStartSettings>
  for (const key of ['jwtSecret', 'databasePassword', 'adminEmail', 'adminPassword'] as const) {
    if (typeof found[key] !== 'string' || found[key] === '')
      throw new Error(`Cannot use ${file}: "${key}" is missing`)
  }
  return found as QuickStartSettings
}
