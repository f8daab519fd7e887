/** Something that the collector would refuse (error) or that is likely wrong (warning). */
export interface StructureFinding {
  code: string
  severity: 'warning' | 'error'
  message: string
  path?: string
}

/** An error with its place. */
export function structureError(code: string, message: string, path: string): StructureFinding {
  return { code, severity: 'error', message, path }
}

/** What one component of a section is called. */
export const SINGULAR = { receivers: 'receiver', processors: 'processor', exporters: 'exporter' } as const
