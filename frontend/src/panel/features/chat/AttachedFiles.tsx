import { Icon } from "../../shared/icons.tsx";
import ui from "../../shared/ui.module.css";
import styles from "./AttachedFiles.module.css";

interface Props {
  readonly files: readonly { readonly name: string; readonly picture: string | undefined }[];
  readonly onRemove?: (place: number) => void;
}

/** Attached files: images as thumbnails, others by name. */
export const AttachedFiles = ({ files, onRemove }: Props) =>
  files.length > 0 && (
    <ul className={styles.files} aria-label="Attachments">
      {files.map(({ name, picture }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two files may have the same name
        <li key={place} data-picture={picture !== undefined || undefined} title={name}>
          {picture === undefined ? (
            <>
              <Icon name="file" /> <span>{name}</span>
            </>
          ) : (
            <img src={picture} alt={name} />
          )}
          {onRemove && (
            <button
              type="button"
              className={ui.iconButton}
              aria-label={`Remove ${name}`}
              onClick={() => onRemove(place)}
            >
              <Icon name="close" />
            </button>
          )}
        </li>
      ))}
    </ul>
  );
