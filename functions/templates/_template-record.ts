import type { ActiveConfig } from '../../lib/store/config-contents.ts'
import type { Template, TemplateSummary } from '../../lib/store/templates.ts'
import type { TemplateRecord } from '../../lib/wire/templates.ts'

/** A stored template as the wire shows it; with its content only when it is there. */
export function toTemplateRecord(
  template: TemplateSummary & Partial<Pick<Template, 'content'>>,
): TemplateRecord {
  return {
    id: template.id,
    name: template.name,
    ...(template.content === undefined ? {} : { content: template.content }),
    created_at: template.createdAt.toISOString(),
    created_by: template.createdBy,
    kind: template.kind,
    status: template.status,
    ...(template.category === '' ? {} : { category: template.category }),
    ...(template.stack === '' ? {} : { stack: template.stack }),
    ...(template.tags.length === 0 ? {} : { tags: [...template.tags] }),
    built_in: false,
    source_type: template.sourceType,
  }
}

/** The config that a workload should run, in the form of a template. It is in no list. */
export function toActiveConfigRecord(config: ActiveConfig): TemplateRecord {
  return {
    id: config.hash,
    name: `push-${config.hash.slice(0, 8)}`,
    content: config.body,
    created_at: config.createdAt.toISOString(),
    created_by: config.createdBy,
    kind: 'saved',
    status: 'ready',
    built_in: false,
  }
}
