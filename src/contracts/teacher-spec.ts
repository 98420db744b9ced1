// Whom a recipe of distillation learns from, as it is written in its params. The lab reads it too: a teacher's base model has to be
// served, its client needs secrets, and another arm has to come first.
import * as z from 'zod'
import { PluginSpec } from './plugin-spec.ts'

export const TeacherSpec = z
  .strictObject({
    checkpoint: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Weights to sample from by their address, or `arm:NAME`: the final weights of an arm that is written before.',
      ),
    base_model: z
      .string()
      .min(1)
      .optional()
      .describe(
        'A base model of the service as it came. Beside `checkpoint`: the base model that its weights belong to.',
      ),
    prompt: z
      .string()
      .min(1)
      .optional()
      .describe('The weights that the run starts from, with this system message: instructions or demonstrations.'),
    client: z
      .union([z.string().min(1), PluginSpec])
      .optional()
      .describe('A model that answers in text: by name, as claude-sonnet-4-6, or by its client as { kind, params }.'),
  })
  .refine(({ checkpoint, base_model, prompt, client }) => {
    const given = [checkpoint ?? base_model, prompt, client].filter((each) => each !== undefined)
    return given.length === 1
  }, 'a teacher is one of checkpoint, base_model, prompt and client; base_model may stand beside checkpoint')
export type TeacherSpec = z.infer<typeof TeacherSpec>

const WithTeacher = z.object({ teacher: TeacherSpec })
const WithPhases = z.object({ phases: z.array(z.object({ params: z.unknown() })) })

/** The teachers that the params of a recipe name, those of its phases included. */
export function teachersOf(params: unknown): TeacherSpec[] {
  const own = WithTeacher.safeParse(params).data
  const phases = WithPhases.safeParse(params).data?.phases ?? []
  return [...(own === undefined ? [] : [own.teacher]), ...phases.flatMap((phase) => teachersOf(phase.params))]
}
