$TACHO summary --style paddle --views OverView,Nothing --worker names paddle
