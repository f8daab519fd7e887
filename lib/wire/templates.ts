export type TemplateKind = 'saved' | 'template' | 'draft' | 'known_good'

/** A placeholder of a template. */
export interface TemplateVariable {
  name: string
  label: string
  type: string
  required: boolean
  description?: string
  placeholder?: string
}

/** A config template. `content` is only in the single record. */
export interface TemplateRecord {
  id: string
  name: string
  content?: string
  created_at: string
  /** A user id. */
  created_by: string
  kind: TemplateKind
  status: 'ready' | 'draft'
  category?: string
  stack?: string
  description?: string
  variables?: TemplateVariable[]
  tags?: string[]
  built_in: boolean
  source_type?: 'manual' | 'migration_assistant'
}

/** Body of `POST /api/configs`. */
export interface TemplateCreateRequest {
  name: string
  content: string
  kind?: 'saved' | 'draft'
  category?: string
  stack?: string
  tags?: string[]
  source_type?: 'manual' | 'migration_assistant'
}
