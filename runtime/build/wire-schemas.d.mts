/** The JSON Schemas of all wire types in a folder, by name. */
export function readWireSchemas(folder: string): Record<string, object>

/** The module that holds them. */
export function writeWireSchemas(folder: string): string
