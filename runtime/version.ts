import manifest from '../package.json' with { type: 'json' }

/** This build's version, from `package.json`. */
export const VERSION: string = manifest.version
