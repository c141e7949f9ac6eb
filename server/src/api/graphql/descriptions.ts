import SchemaBuilder, {
  BasePlugin,
  type PothosInputFieldConfig,
  type PothosOutputFieldConfig,
  type PothosTypeConfig,
  type SchemaTypes,
} from '@pothos/core';
import { commonDescription } from './common-descriptions.ts';

export const DESCRIPTIONS = 'descriptions' as const;

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      descriptions: DescriptionsPlugin<Types>;
    }
  }
}

/** Adds the shared descriptions to members that a slice does not describe. */
class DescriptionsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onTypeConfig(type: PothosTypeConfig): PothosTypeConfig {
    const described = { ...type, description: type.description ?? textOf(type.name) };
    if (described.kind !== 'Enum') return described;
    const values = Object.entries(described.values ?? {}).map(
      ([name, value]) =>
        [name, { ...value, description: value.description ?? textOf(type.name, name) }] as const,
    );
    return { ...described, values: Object.fromEntries(values) };
  }

  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    return { ...field, description: field.description ?? textOf(field.parentType, field.name) };
  }

  override onInputFieldConfig(field: PothosInputFieldConfig<Types>): PothosInputFieldConfig<Types> {
    const description =
      field.kind === 'Arg'
        ? textOf(field.parentType, field.parentField, field.name)
        : textOf(field.parentType, field.name);
    return { ...field, description: field.description ?? description };
  }
}

function textOf(type: string, member?: string, argument?: string): string | undefined {
  return commonDescription({ type, member, argument });
}

SchemaBuilder.registerPlugin(DESCRIPTIONS, DescriptionsPlugin);
