"""Languages that put no spaces between words, or bend their words: a few stems, looked for anywhere in the text."""

from sidecar.wire.tasks import Intent

#: The first that is found decides, so what forbids or is more particular stands first.
_STEMS: tuple[tuple[Intent, str], ...] = (
    ("explain_code", "変更しないで 不要修改 不要改 не_меняй ничего_не_меня 수정하지_마"),
    ("write_docs", "ドキュメント 文档 文檔 说明书 docstring документац 문서 readme"),
    ("refactor_code", "リファクタ 重构 重構 重命名 рефактор переименуй переименова 리팩터 리팩토"),
    ("review_code", "レビュー 审查 審查 评审 проверь_код ревью 리뷰 검토"),
    ("run_command", "実行 走らせ 运行 運行 执行 запусти выполни установи 실행 설치"),
    ("create_project", "プロジェクトを作 新しいプロジェクト アプリを作 创建一个项目 新项目 新建项目 创建一个应用"),
    ("create_project", "новый_проект создай_проект создай_приложение 새_프로젝트 앱을_만들"),
    ("edit_code", "修正 追加 直して 変更 削除 実装 修复 添加 修改 删除 实现 修一下 作成 创建"),
    ("edit_code", "исправ добав удали измени реализуй почини замени создай напиши 수정 추가 고쳐 삭제 구현 만들어"),
    ("explain_code", "説明 教えて どこ なぜ 何をし 解释 说明 什么 哪里 为什么 怎么"),
    ("explain_code", "объясни что_делает где_ почему как_работает покажи 설명 어디 무엇 왜"),
)


def by_stem(text: str) -> tuple[Intent, str] | None:
    if text.isascii():
        return None
    lowered = text[:800].lower()
    if not any("\u0400" <= letter <= "\u04ff" or "\u3040" <= letter <= "\ud7a3" for letter in lowered):
        return None
    for intent, stems in _STEMS:
        for stem in stems.split():
            if (sought := stem.replace("_", " ")) in lowered:
                return intent, sought
    return None
