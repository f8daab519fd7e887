import { type Category, type ConfigObject, type ConfigValue, isObject } from '../yaml/value.ts'
import { DoesNotFit } from './does-not-fit.ts'

/** Another id for a component that is defined. */
export interface Renaming {
  category: Category
  from: string
  to: string
}

/** Where pipelines name the components of a section. */
const ROLES: Readonly<Record<Category, readonly string[]>> = {
  receivers: ['receivers'],
  processors: ['processors'],
  exporters: ['exporters'],
  connectors: ['receivers', 'exporters'],
  extensions: [],
}

/** Settings of components whose value is the id of an extension. */
const EXTENSION_SETTINGS = new Set(['authenticator', 'storage', 'storage_id'])

/**
 * Give a component another id: where it is defined, in the pipelines (a connector at both of its ends), and, for an
 * extension, where it is started or named as authenticator or storage. Other places whose value is the id stay as they
 * are and are returned as `otherMatches`. Throws `DoesNotFit`.
 */
export function renameComponent(
  root: ConfigObject,
  { category, from, to }: Renaming,
): { root: ConfigObject; otherMatches: string[] } {
  const section = root[category]
  if (!isObject(section) || !Object.hasOwn(section, from))
    throw new DoesNotFit(`${category}::${from} is not there`)
  if (Object.hasOwn(section, to)) throw new DoesNotFit(`${category}::${to} is there already`)
  const renamer = new Renamer({ category, from, to })
  return { root: renamer.root(root), otherMatches: renamer.otherMatches }
}

class Renamer {
  readonly otherMatches: string[] = []
  readonly #renaming: Renaming

  constructor(renaming: Renaming) {
    this.#renaming = renaming
  }

  root(root: ConfigObject): ConfigObject {
    const { category } = this.#renaming
    return mapEntries(root, (section, value) => {
      const renamed = section === category && isObject(value) ? this.#key(value) : value
      return section === 'service' && isObject(renamed)
        ? this.#service(renamed)
        : this.#other(renamed, [section])
    })
  }

  #key(section: ConfigObject): ConfigObject {
    const { from, to } = this.#renaming
    return Object.fromEntries(Object.entries(section).map(([key, value]) => [key === from ? to : key, value]))
  }

  #service(service: ConfigObject): ConfigObject {
    const { category } = this.#renaming
    return mapEntries(service, (key, value) => {
      if (key === 'extensions' && category === 'extensions') return this.#list(value)
      if (key === 'pipelines' && isObject(value)) return this.#pipelines(value)
      return this.#other(value, ['service', key])
    })
  }

  #pipelines(pipelines: ConfigObject): ConfigObject {
    return mapEntries(pipelines, (_, pipeline) => {
      if (!isObject(pipeline)) return pipeline
      return mapEntries(pipeline, (role, value) =>
        ROLES[this.#renaming.category].includes(role) ? this.#list(value) : value,
      )
    })
  }

  #list(value: ConfigValue): ConfigValue {
    const { from, to } = this.#renaming
    return Array.isArray(value) ? value.map((entry) => (entry === from ? to : entry)) : value
  }

  /** Settings: one that refers to an extension is renamed; any other whose value is the id goes to `otherMatches`. */
  #other(value: ConfigValue, path: readonly string[]): ConfigValue {
    if (Array.isArray(value)) return value.map((entry, index) => this.#other(entry, [...path, String(index)]))
    if (isObject(value)) return mapEntries(value, (key, entry) => this.#other(entry, [...path, key]))
    const { category, from, to } = this.#renaming
    if (value !== from) return value
    if (category === 'extensions' && EXTENSION_SETTINGS.has(path.at(-1)!)) return to
    this.otherMatches.push(path.join('::'))
    return value
  }
}

const mapEntries = (
  object: ConfigObject,
  map: (key: string, value: ConfigValue) => ConfigValue,
): ConfigObject => Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(key, value)]))
