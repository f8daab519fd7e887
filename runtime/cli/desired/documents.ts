import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { LineCounter, parseAllDocuments } from 'yaml'
import { CommandFailure, EXIT } from '../exit-codes.ts'
import { decodeText } from '../text-file.ts'
import { listLinks } from './links.ts'

/** A config that a folder holds for a workload. */
export interface WorkloadDocument {
  /** `file:line` of the document. */
  place: string
  /** The paths of its own file and, where it names one, of its config's and of what that leads to. */
  files: readonly string[]
  workload: { id: string } | { labels: Readonly<Record<string, string>> }
  config: string
}

/** A fleet config that a folder holds; what it says beside its text is for the service to check. */
export interface FleetDocument {
  /** `file:line` of the document. */
  place: string
  /** The paths of its own file and, where it names one, of its config's and of what that leads to. */
  files: readonly string[]
  name: string
  content: string
  rest: Readonly<Record<string, unknown>>
}

/** The documents of a folder. */
export interface DesiredState {
  workloads: WorkloadDocument[]
  fleets: FleetDocument[]
  /** How many YAML files hold no such document, and are the config of none. */
  others: number
}

const API_VERSION = 'muster/v1'
const WORKLOAD = 'WorkloadConfig'
const FLEET = 'FleetConfig'
const FILES_MAX = 10_000
const FILE_BYTES_MAX = 8_388_608

/**
 * Read the documents of a folder, in the order of its files. Throws CommandFailure for a document that is wrong. That it
 * holds none is to be said (`isEmpty`), so that a wrong folder lets go of nothing; Git keeps no empty folders, so then it
 * may also be missing.
 */
export async function readDesiredState(folder: string, isEmpty = false): Promise<DesiredState> {
  const state: DesiredState = { workloads: [], fleets: [], others: 0 }
  if (isEmpty && (await isMissing(folder))) return state
  const without: string[] = []
  for (const file of await listYamlFiles(folder)) {
    const found = await readDocuments(folder, file)
    if (found.length === 0) without.push(file)
    for (const document of found)
      if ('workload' in document) state.workloads.push(document)
      else state.fleets.push(document)
  }
  const count = state.workloads.length + state.fleets.length
  if (count === 0 && !isEmpty)
    throw new CommandFailure(
      `${folder} holds no document of ${API_VERSION}; to let go of all that its owner keeps, say --prune --empty`,
    )
  if (count > 0 && isEmpty)
    throw new CommandFailure(
      `${folder} holds documents: without --empty, --prune lets go of what it holds no longer`,
    )
  const read = new Set(
    [...state.workloads, ...state.fleets].flatMap(({ files }) => files.map((file) => resolve(file))),
  )
  state.others = without.filter((file) => !read.has(resolve(file))).length
  const byName = new Map<string, string>()
  for (const { place, name } of state.fleets) {
    const other = byName.get(name)
    if (other !== undefined) throw wrong(place, `${other} is about the same fleet config`)
    byName.set(name, place)
  }
  return state
}

const isMissing = (folder: string): Promise<boolean> =>
  stat(folder).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  )

async function listYamlFiles(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = entries
      .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name))
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .filter(
        (file) =>
          !relative(folder, file)
            .split(sep)
            .some((part) => part.startsWith('.')),
      )
    if (files.length > FILES_MAX) throw new CommandFailure(`${folder} holds more than ${FILES_MAX} files`)
    return files.sort()
  } catch (error) {
    throw unreadable(folder, error)
  }
}

const unreadable = (path: string, error: unknown) =>
  error instanceof CommandFailure
    ? error
    : new CommandFailure(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)

async function readText(file: string): Promise<string> {
  try {
    if ((await stat(file)).size > FILE_BYTES_MAX)
      throw new CommandFailure(`${file} is larger than any config`)
    return decodeText(file, await readFile(file))
  } catch (error) {
    throw unreadable(file, error)
  }
}

const wrong = (place: string, message: string) => new CommandFailure(`${place}: ${message}`, EXIT.refused)

async function readDocuments(folder: string, file: string): Promise<(WorkloadDocument | FleetDocument)[]> {
  const text = await readText(file)
  // Collector configs may lie beside the documents: a file without our apiVersion is taken for one.
  if (!text.includes(API_VERSION)) return []
  const lines = new LineCounter()
  const found: (WorkloadDocument | FleetDocument)[] = []
  for (const document of parseAllDocuments(text, { lineCounter: lines })) {
    const place = `${file}:${lines.linePos(document.range[0]).line}`
    if (document.errors.length > 0) throw wrong(place, 'this is no YAML')
    let value: unknown
    try {
      value = document.toJS({ maxAliasCount: 0 })
    } catch {
      throw wrong(place, 'aliases are not taken here')
    }
    if (isRecord(value) && value['apiVersion'] === API_VERSION)
      found.push(await toDocument(folder, file, place, value))
    else if (value !== null) throw wrong(place, `a document here must have apiVersion: ${API_VERSION}`)
  }
  return found
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function refuseOthers(place: string, value: Record<string, unknown>, known: readonly string[]): void {
  const other = Object.keys(value).find((key) => !known.includes(key))
  if (other !== undefined)
    throw wrong(place, `unknown key ${JSON.stringify(other)}; there are ${known.join(', ')}`)
}

async function toDocument(
  folder: string,
  file: string,
  place: string,
  value: Record<string, unknown>,
): Promise<WorkloadDocument | FleetDocument> {
  if (value['kind'] === FLEET) {
    refuseOthers(place, value, FLEET_KEYS)
    const { apiVersion: _, kind: __, config, configFile, name, ...rest } = value
    if (typeof name !== 'string' || name === '') throw wrong(place, 'a fleet config needs a name')
    if (!isRecord(rest['selector'])) throw wrong(place, 'a fleet config needs a selector')
    const read = await readConfig(folder, file, place, { config, configFile })
    return { place, files: read.files, name, content: read.text, rest }
  }
  if (value['kind'] !== WORKLOAD) throw wrong(place, `kind must be ${WORKLOAD} or ${FLEET}`)
  refuseOthers(place, value, ['apiVersion', 'kind', 'workload', 'config', 'configFile'])
  const workload = readTarget(place, value['workload'])
  const { text: config, files } = await readConfig(folder, file, place, value)
  return { place, files, workload, config }
}

const FLEET_KEYS = [
  ...['apiVersion', 'kind', 'name', 'description', 'selector', 'priority', 'variables', 'table'],
  ...['campaign', 'config', 'configFile'],
]

/** The config of a document, its own text or a file of the folder that it names, with the files that were read. */
async function readConfig(
  folder: string,
  file: string,
  place: string,
  { config, configFile }: { config?: unknown; configFile?: unknown },
): Promise<{ text: string; files: string[] }> {
  if ((config === undefined) === (configFile === undefined))
    throw wrong(place, 'either config or configFile must be there')
  if (config !== undefined && typeof config !== 'string')
    throw wrong(place, 'config must be text: write "config: |" before it')
  if (configFile !== undefined && typeof configFile !== 'string')
    throw wrong(place, 'configFile must be a path')
  const own = [...(await listLinks(file)), file]
  if (config !== undefined) return { text: config, files: own }
  const path = configFile as string
  const found = await inside(folder, file, place, path)
  const named = resolve(dirname(file), path)
  return {
    text: await readText(found),
    files: [...new Set([...own, ...(await listLinks(named)), named, found])],
  }
}

/**
 * The absolute path of a `configFile`, which is relative to its document, with its links followed. Throws where it, or
 * a link, leads out of the folder or to what is hidden in it: a checkout keeps the pipeline's credentials in `.git`.
 */
async function inside(folder: string, file: string, place: string, path: string): Promise<string> {
  const named = resolve(dirname(file), path)
  if (leadsOut(resolve(folder), named)) throw wrong(place, 'configFile leads out of the folder')
  const found = await realpath(named).catch((error) => {
    throw unreadable(named, error)
  })
  const home = await realpath(folder)
  if (leadsOut(home, found)) throw wrong(place, 'configFile leads out of the folder')
  if (isHidden(folder, named) || isHidden(home, found))
    throw wrong(place, 'configFile leads to a file or folder whose name begins with a dot')
  if (!(await stat(found)).isFile()) throw wrong(place, 'configFile is no file')
  return found
}

/** Whether a name on the way from a folder to a path in it begins with a dot. */
const isHidden = (folder: string, path: string): boolean =>
  relative(resolve(folder), path)
    .split(sep)
    .some((name) => name.startsWith('.'))

function leadsOut(folder: string, path: string): boolean {
  const steps = relative(folder, path)
  return steps === '..' || steps.startsWith(`..${sep}`) || isAbsolute(steps)
}

function readTarget(place: string, value: unknown): WorkloadDocument['workload'] {
  const wanted = 'workload must have an id, or labels that only one workload has'
  if (!isRecord(value)) throw wrong(place, wanted)
  refuseOthers(place, value, ['id', 'labels'])
  const { id, labels } = value
  if ((id === undefined) === (labels === undefined)) throw wrong(place, wanted)
  if (typeof id === 'string' && id !== '') return { id }
  if (!isRecord(labels)) throw wrong(place, wanted)
  const entries = Object.entries(labels)
  if (entries.length === 0 || entries.some(([, label]) => typeof label !== 'string'))
    throw wrong(place, wanted)
  return { labels: Object.fromEntries(entries) as Record<string, string> }
}
