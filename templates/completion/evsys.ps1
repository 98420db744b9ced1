# evsys completion for PowerShell. In $PROFILE:  evsys completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName evsys -ScriptBlock {
    param($word, $ast, $cursor)
    $words = @($ast.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.StartOffset -lt $cursor } | ForEach-Object { $_.Extent.Text })
    if ($word -eq '') { $words += '""' }
    $lines = @(& evsys complete '--' @words 2>$null)
    foreach ($line in $lines) {
        if ($line.StartsWith(':')) { continue }
        $value, $description = $line.Split([char]9, 2)
        if (-not $description) { $description = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $description)
    }
}
