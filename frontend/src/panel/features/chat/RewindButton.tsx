import type { MessageItem } from "../../../client/index.ts";
import { Icon } from "../../shared/icons.tsx";
import type { RewindPoint } from "../../shared/rewind-point.ts";
import ui from "../../shared/ui.module.css";

interface Props {
  readonly item: MessageItem;
  readonly onRewind: (point: RewindPoint) => void;
}

/** Rewinds to the moment before the message. */
export const RewindButton = ({ item, onRewind }: Props) => (
  <button
    type="button"
    className={ui.iconButton}
    aria-label="Rewind to before this message"
    title="Rewind to before this message, or fork from there"
    onClick={() => onRewind({ seq: item.seq - 1, label: "before this message" })}
  >
    <Icon name="rewind" />
  </button>
);
